import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import type { Connectors } from "../ports/connectors.ts";
import type { ConnectionStore, OpenedConnection } from "../tokens/connections.ts";
import { createGoogleCalendar } from "./calendar/google-calendar.ts";
import { createGoogleContacts } from "./contacts/google-contacts.ts";
import { createGoogleAccess, GoogleConnection } from "./google-access.ts";
import { createGoogleSession } from "./google-session.ts";
import { timeoutMsDefault } from "./load-google.ts";
import { createGoogleMail } from "./mail/google-mail.ts";
import { domainsOf, hasScope } from "./scopes.ts";

/** Options of `openGoogle`. */
export const OpenGoogleOptions = z.strictObject({
  store: z.custom<ConnectionStore>((store) => store !== undefined),
  /** The id of the connection, like `google/ana@acme.example`. */
  id: z.string().min(1),
  /** A call that takes longer fails with `network`. */
  timeoutMs: z.int().positive().default(timeoutMsDefault),
  clock: z.custom<{ now(): number }>().default(() => systemClock()),
});
export type OpenGoogleOptions = z.input<typeof OpenGoogleOptions>;

/**
 * The connectors of a Google account, for the domains that the user allowed. Calls no server.
 *
 * @example
 * const store = openConnectionStore("/home/ana/.local/share/troupe");
 * const { mail } = await openGoogle({ store, id: "google/ana@acme.example" });
 * const page = await mail?.searchMessages({ text: "invoice" });
 */
export async function openGoogle(options: OpenGoogleOptions): Promise<Partial<Omit<Connectors, "channels">>> {
  const { store, id, timeoutMs, clock } = parseParams(OpenGoogleOptions, options);
  const { connection, settings } = readConnection(id, await store.get(id));
  const { account } = connection;
  const { scopes, name, baseUrl } = settings;
  const access = createGoogleAccess({ store, id, account, clock, timeoutMs });
  const session = createGoogleSession({ access, baseUrl, timeoutMs });
  const domains = domainsOf(scopes);
  const now = () => clock.now();
  return {
    ...(domains.includes("mail")
      ? { mail: createGoogleMail({ session, userName: name, canWrite: hasScope(scopes, "gmail.compose") }) }
      : {}),
    ...(domains.includes("calendar")
      ? { calendar: createGoogleCalendar({ session, clock, canWrite: hasScope(scopes, "calendar.events") }) }
      : {}),
    ...(domains.includes("contacts")
      ? { contacts: createGoogleContacts({ session, hasOthers: hasScope(scopes, "contacts.other.readonly"), now }) }
      : {}),
  };
}

function readConnection(id: string, opened: OpenedConnection | null) {
  const parsed = GoogleConnection.safeParse(opened);
  if (opened?.connection.kind === "google" && parsed.success) return { ...opened, settings: parsed.data.settings };
  const problem = opened === null ? "does not exist" : "is not a connection to Google";
  throw new ConnectorError("params", `the connection ${JSON.stringify(id)} ${problem}`, {
    param: "id",
    fix: "troupe connect google",
  });
}
