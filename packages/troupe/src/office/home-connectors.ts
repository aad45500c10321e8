import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ConnectionStore, Connectors, LocalOffice, StoredConnection } from "@troupe/connectors";
import { loadOnce } from "@troupe/core/internal";
import type { OfficeDomain, OfficeSettings } from "../config/office-settings.ts";
import type { Home } from "../home/home.ts";
import { hasLocalOffice, openHomeOffice } from "./home-office.ts";

type Port = keyof Connectors;

/** The port that the agent of a domain works with. */
export const portOf = {
  email: "mail",
  calendar: "calendar",
  contacts: "contacts",
  slack: "channels",
} as const satisfies Record<OfficeDomain, Port>;

/** The id of the local office among connections. */
export const localId = "local";

/** The connectors of a home. They open at the first use, because their libraries take longer than a short command. */
export interface HomeConnectors {
  /** For each call again: a connection that was added or chosen meanwhile counts. A domain that cannot be used throws when read. */
  open(): Promise<Connectors>;
  /** Whether the only data are those of a local office that was never filled. */
  isEmpty(): Promise<boolean>;
  /** Closes the local office. Later calls fail. */
  close(): void;
}

export interface HomeConnectorsOptions {
  home: Home;
  settings: OfficeSettings;
  /** Connectors of the program. They win over those of the home. */
  given?: Partial<Connectors> | undefined;
}

/** Whether a home has mail, calendar, contacts or channels of its own: a local office, or a connected account. */
export function hasOffice(home: Home): boolean {
  return hasLocalOffice(home) || hasConnections(home);
}

/** Whether an account was ever connected. */
export function hasConnections(home: Home): boolean {
  return existsSync(join(home.path, "connections.db"));
}

export function createHomeConnectors({ home, settings, given = {} }: HomeConnectorsOptions): HomeConnectors {
  const office = loadOnce(() => openHomeOffice(home, settings));
  let isClosed = false;
  let store: ConnectionStore | null = null;
  const accounts = new Map<string, Promise<Partial<Connectors>>>();

  const local = async (): Promise<LocalOffice> => {
    if (isClosed) throw new Error("the office is closed");
    return await office.load();
  };
  const accountOf = (connection: StoredConnection, from: ConnectionStore): Promise<Partial<Connectors>> => {
    // A connection that was made again has other tokens and other rights.
    const key = `${connection.id} ${connection.createdAt}`;
    const known = accounts.get(key) ?? openAccount(connection, from);
    accounts.set(key, known);
    known.catch(() => accounts.delete(key));
    return known;
  };
  /** The connector of a domain, or the reason why it has none. */
  const connectorOf = async (domain: OfficeDomain, stored: readonly StoredConnection[]): Promise<Opened> => {
    const port = portOf[domain];
    const own = given[port];
    if (own) return { connector: own };
    try {
      const chosen = await chooseConnection(domain, settings, stored);
      if (chosen === null || store === null) return { connector: (await local())[port] };
      const connector = (await accountOf(chosen, store))[port];
      return connector ? { connector } : { problem: await missingRight(chosen, domain) };
    } catch (problem) {
      return { problem };
    }
  };

  return {
    async open() {
      const isComplete = Object.values(portOf).every((port) => given[port] !== undefined);
      if (!isComplete) store ??= (await import("@troupe/connectors")).openConnectionStore(home.path);
      const stored = (await store?.list()) ?? [];
      const domains = Object.keys(portOf) as OfficeDomain[];
      const opened = await Promise.all(domains.map((domain) => connectorOf(domain, stored)));
      const connectors = {};
      for (const [i, domain] of domains.entries()) {
        Object.defineProperty(connectors, portOf[domain], { enumerable: true, get: () => connectorIn(opened[i]) });
      }
      return connectors as Connectors;
    },
    async isEmpty() {
      if (Object.keys(given).length > 0 || hasConnections(home)) return false;
      const { countRows } = await import("@troupe/connectors");
      return Object.values(countRows(await local())).every((count) => count === 0);
    },
    close() {
      isClosed = true;
      void office
        .begun()
        ?.then((opened) => opened.close())
        .catch(() => {});
    },
  };
}

type Opened = { connector: Connectors[Port] } | { problem: unknown };

function connectorIn(opened: Opened | undefined): Connectors[Port] {
  if (opened && "connector" in opened) return opened.connector;
  throw opened?.problem;
}

/**
 * The connection of a domain: the chosen one, else the only one that has the domain. Null: the local office. Throws a
 * `ConnectorError` if the chosen one does not exist, or if there are several.
 */
export async function chooseConnection(
  domain: OfficeDomain,
  { connections }: Pick<OfficeSettings, "connections">,
  stored: readonly StoredConnection[],
): Promise<StoredConnection | null> {
  const chosen = connections[domain];
  if (chosen?.value === localId) return null;
  const able = stored.filter((each) => each.domains.includes(portOf[domain]));
  if (chosen === undefined && able.length < 2) return able[0] ?? null;
  const found = able.find(({ id }) => id === chosen?.value);
  if (found) return found;
  const { ConnectorError } = await import("@troupe/connectors");
  const ids = [...able.map(({ id }) => id), localId].join(", ");
  if (chosen === undefined) {
    throw new ConnectorError("params", `several accounts are connected for ${domain}: ${ids}`, {
      fix: `write office: {connections: {${domain}: ${able[0]?.id}}} into your configuration (troupe config path)`,
    });
  }
  const { value, origin } = chosen;
  throw new ConnectorError("params", `${origin.where} names ${value} for ${domain}, and no such account is connected`, {
    fix: `use one of: ${ids}`,
  });
}

/** Opens a connected account. Calls no server; the vendor's library loads with the first call. */
export async function openAccount(
  { id, kind }: StoredConnection,
  store: ConnectionStore,
): Promise<Partial<Connectors>> {
  const { ConnectorError, openGoogle, openSlackChannels, openStandard } = await import("@troupe/connectors");
  if (kind === "google") return await openGoogle({ store, id });
  const opened = await store.get(id);
  if (!opened) throw new ConnectorError("auth", `the connection ${id} was removed`, { fix: "connect it again" });
  return kind === "slack" ? { channels: openSlackChannels(store, opened) } : openStandard(opened);
}

async function missingRight({ id }: StoredConnection, domain: OfficeDomain): Promise<Error> {
  const { ConnectorError } = await import("@troupe/connectors");
  return new ConnectorError("permission", `the connection ${id} has no right to use ${domain}`, {
    fix: "connect the account again, and allow it",
  });
}
