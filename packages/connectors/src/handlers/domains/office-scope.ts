import type { HandledRequest } from "@troupe/core";
import type { Tool } from "@troupe/core/tool";
import type { PeopleOptions } from "../../phrases/read-people.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { Connectors } from "../../ports/connectors.ts";
import type { Person } from "../../ports/person.ts";
import type { DomainAgentOptions } from "../base/define-domain-agent.ts";

/** The facts of a run by which its connectors are chosen. */
export type RequestPlace = Pick<HandledRequest, "session" | "run" | "userId">;

/** Options of the office agents. */
export interface OfficeHandlerOptions {
  /** The connectors, or a function that returns those of a request. It is called often: keep open connectors. */
  connectors: Connectors | ((request: RequestPlace) => Promise<Connectors>);
  /** The user. @default the account of the mail connection */
  user?: Person;
  /** Domains of the user's organization. Mail to other domains is of high risk. @default the domain of the user */
  ownDomains?: readonly string[] | null;
  /** Names of groups in requests, such as `sales`, in lower case. @default none */
  groups?: PeopleOptions["groups"];
  /** The tools of the office. Each domain takes its own. @default none, so that arguments are checked by the tools alone */
  tools?: readonly Tool[];
}

/** Shared parts of the office domains. */
export interface OfficeScope {
  connectors(request: RequestPlace): Promise<Connectors>;
  user(request: RequestPlace): Promise<Person>;
  /** Addresses outside of the user's organization. */
  externalOf(request: RequestPlace, people: readonly Person[]): Promise<Person[]>;
  /** The parts of a domain agent that all office domains have. */
  shared: Required<Pick<DomainAgentOptions, "people" | "timeZone">>;
  toolsOf(prefix: string): Tool[];
}

export function officeScope(options: OfficeHandlerOptions): OfficeScope {
  const { groups, ownDomains, tools = [] } = options;
  const connectors: OfficeScope["connectors"] = async (request) =>
    typeof options.connectors === "function" ? options.connectors(request) : options.connectors;
  const user: OfficeScope["user"] = async (request) => options.user ?? (await accountOf(await connectors(request)));
  return {
    connectors,
    user,
    async externalOf(request, people) {
      const own = ownDomains ?? [domainOf((await user(request)).address)];
      const isOwn = (domain: string) => own.some((each) => domain === each || domain.endsWith(`.${each}`));
      return people.filter(({ address }) => !isOwn(domainOf(address)));
    },
    shared: {
      async people(request) {
        const { contacts } = await connectors(request);
        return { contacts, user: await user(request), ...(groups ? { groups } : {}) };
      },
      timeZone: async (request) => zoneOf(await connectors(request)),
    },
    toolsOf: (prefix) => tools.filter(({ spec }) => spec.name.startsWith(prefix)),
  };
}

/** The user's address, from the first connection that knows it. Accounts of channels have no address. */
async function accountOf(connectors: Connectors): Promise<Person> {
  let reason: unknown = new ConnectorError("auth", "no connection names the address of the user");
  for (const port of ["mail", "calendar", "contacts"] as const) {
    try {
      const { account: address } = await connectors[port].status();
      if (address.includes("@")) return { name: await nameIn(connectors, address), address };
    } catch (thrown) {
      // A domain that is not connected must not stop the others.
      reason = thrown;
    }
  }
  throw reason;
}

async function nameIn(connectors: Connectors, address: string): Promise<string> {
  try {
    return (await connectors.contacts.validateEmail(address)).contact?.name ?? "";
  } catch {
    return "";
  }
}

/** The zone of the calendar. Without one, that of this machine: mail and channels work without a calendar. */
async function zoneOf(connectors: Connectors): Promise<string> {
  try {
    return await connectors.calendar.timeZone();
  } catch {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

/** More recipients or attendees than this are a call of high risk. */
export const fewPeopleMax = 5;
