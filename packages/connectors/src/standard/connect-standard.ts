import { z } from "zod";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import type { Connectors } from "../ports/connectors.ts";
import type { ConnectionDomain, ConnectionStore, OpenedConnection, StoredConnection } from "../tokens/connections.ts";
import { createDavClient } from "./dav/dav-client.ts";
import { createStandardCalendar } from "./dav/standard-calendar.ts";
import { createStandardContacts } from "./dav/standard-contacts.ts";
import { withImap } from "./mail/imap-session.ts";
import { checkSmtp } from "./mail/smtp-session.ts";
import { createStandardMail } from "./mail/standard-mail.ts";
import { type CheckedAccount, type MailServer, StandardAccount } from "./standard-options.ts";

/** A connected account of standard servers. */
export interface ConnectedStandard {
  connection: StoredConnection;
  /** The servers that accepted the user and the password. */
  tested: readonly ("imap" | "smtp" | "caldav" | "carddav")[];
}

/**
 * Tests each server of an account, and stores the account. If one of them refuses, nothing is stored.
 *
 * @param name the name of the connection; null: the address of the user
 * @example
 * const { connection } = await connectStandard(store, {
 *   user: { name: "Ana", address: "ana@acme.example" },
 *   password: "…",
 *   imap: { host: "imap.acme.example", port: 993 },
 * });
 */
export async function connectStandard(
  store: ConnectionStore,
  options: StandardAccount,
  name: string | null = null,
): Promise<ConnectedStandard> {
  const account = parseParams(StandardAccount, options);
  const tested = await testServers(account);
  const domains: ConnectionDomain[] = [
    ...(account.imap ? ["mail" as const] : []),
    ...(account.caldav ? ["calendar" as const] : []),
    ...(account.carddav ? ["contacts" as const] : []),
  ];
  if (domains.length === 0) {
    throw new ConnectorError("params", "the account has no server for mail, calendar or contacts", { param: "imap" });
  }
  const connection: StoredConnection = {
    id: `standard/${name ?? account.user.address}`,
    kind: "standard",
    account: account.user.address,
    domains,
    createdAt: new Date(account.clock.now()).toISOString(),
    settings: toSettings(account),
  };
  await store.put(connection, { password: account.password });
  return { connection, tested };
}

async function testServers(account: CheckedAccount): Promise<ConnectedStandard["tested"]> {
  if (account.imap) await withImap(account, async () => {});
  if (account.smtp) await checkSmtp(account);
  for (const kind of ["caldav", "carddav"] as const) {
    if (account[kind] !== null) await createDavClient(account, kind).collections();
  }
  return (["imap", "smtp", "caldav", "carddav"] as const).filter((name) => account[name] !== null);
}

/** Settings without defaults: a later version can have others. */
function toSettings(account: CheckedAccount): Record<string, string> {
  const { user, username, imap, smtp, caldav, carddav, calendar, timeZone, colleagues, allowPlain } = account;
  const settings = {
    ...{ name: user.name, username, caldav, carddav, calendar, timeZone },
    ...{ imap: imap && serverText(imap), smtp: smtp && serverText(smtp) },
    colleagues: colleagues.length > 0 ? JSON.stringify(colleagues) : null,
    allowPlain: allowPlain ? "true" : null,
  };
  const given = Object.entries(settings).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return Object.fromEntries(given);
}

function serverText({ security, host, port }: MailServer): string {
  return `${security}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Ports of IMAP and SMTP, the ones for TLS from the first byte first. */
const ports = {
  imap: { tls: 993, starttls: 143, plain: 143 },
  smtp: { tls: 465, starttls: 587, plain: 587 },
} as const;
const starttlsPorts: readonly number[] = [143, 587, 25];

/**
 * Reads a server as people write it. Without a scheme, the port decides between TLS and STARTTLS.
 *
 * @example
 * parseMailServer("imap", "imap.acme.example"); // { host: "imap.acme.example", port: 993, security: "tls" }
 * parseMailServer("smtp", "smtp.acme.example:587"); // { …, port: 587, security: "starttls" }
 * parseMailServer("smtp", "plain://127.0.0.1:2525");
 */
export function parseMailServer(kind: "imap" | "smtp", text: string): MailServer {
  const [, scheme, bracketed, bare, port] =
    /^(?:(tls|starttls|plain):\/\/)?(?:\[([^\]]+)\]|([^:/\s]+))(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const host = bracketed ?? bare;
  if (host === undefined) {
    throw new ConnectorError(
      "params",
      `${JSON.stringify(text)} is not a server such as ${kind}.acme.example:${ports[kind].tls}`,
      {
        param: kind,
      },
    );
  }
  const byPort = port !== undefined && starttlsPorts.includes(Number(port)) ? "starttls" : "tls";
  const security = (scheme ?? byPort) as MailServer["security"];
  return { host, port: port === undefined ? ports[kind][security] : Number(port), security };
}

const Colleagues = z.array(z.strictObject({ address: z.string(), calendarUrl: z.string() }));

/**
 * The connectors of a stored account, for the servers that it has. Calls no server.
 *
 * @example
 * const opened = await store.get("standard/ana@acme.example");
 * const { mail } = opened ? openStandard(opened) : {};
 */
export function openStandard(
  { connection, secrets }: OpenedConnection,
  options: Pick<StandardAccount, "clock" | "timeoutMs"> = {},
): Partial<Omit<Connectors, "channels">> {
  const { name = "", username = null, imap, smtp, caldav = null, carddav = null, ...rest } = connection.settings;
  const account: StandardAccount = {
    ...options,
    user: { name, address: connection.account },
    ...{ username, password: secrets.password ?? "", caldav, carddav },
    imap: imap === undefined ? null : parseMailServer("imap", imap),
    smtp: smtp === undefined ? null : parseMailServer("smtp", smtp),
    calendar: rest.calendar ?? null,
    timeZone: rest.timeZone ?? null,
    colleagues: rest.colleagues === undefined ? [] : Colleagues.parse(JSON.parse(rest.colleagues)),
    allowPlain: rest.allowPlain === "true",
  };
  return {
    ...(account.imap ? { mail: createStandardMail(account) } : {}),
    ...(caldav === null ? {} : { calendar: createStandardCalendar(account) }),
    ...(carddav === null ? {} : { contacts: createStandardContacts(account) }),
  };
}
