import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CalendarServer, createCalendarServer } from "./calendar.ts";
import { createGmailServer, type GmailServer } from "./gmail.ts";
import { type GoogleReply, type GoogleRequest, notFound, refuse } from "./google-reply.ts";
import { createOauthServer, type OauthServer } from "./oauth.ts";
import { createPeopleServer, type PeopleServer } from "./people.ts";

/** A fault of the next requests that match. */
export interface GoogleFault {
  /** `POST /gmail/v1/users/me/drafts/send`: the method, and the beginning of the path. */
  on: string;
  /** How often it happens. @default 1 */
  times?: number;
  /** Matching requests that go well before it. @default 0 */
  after?: number;
  /**
   * A reply in place of the API; `malformed`: a page of HTML that says it is JSON; `drop`: the connection ends before the
   * request counts; `lose-answer`: it ends after the request was carried out; `hang`: no answer comes.
   */
  fault: GoogleReply | "malformed" | "drop" | "lose-answer" | "hang";
  /** Called when it happens, after the request was carried out if it was. */
  onHit?: () => void;
}

/** Google's OAuth server and its three APIs, on a local port. */
export interface GoogleServer extends AsyncDisposable {
  url: string;
  oauth: OauthServer;
  gmail: GmailServer;
  calendar: CalendarServer;
  people: PeopleServer;
  fail(fault: GoogleFault): void;
  /** The requests so far, as `GET /path`. */
  readonly calls: string[];
}

/** The scope without which Google refuses a path. */
const scopeOf: readonly [RegExp, RegExp][] = [
  [/^(?!GET).* \/gmail\//, /gmail\.(?:compose|modify)/],
  [/ \/gmail\//, /gmail\.(?:readonly|modify)/],
  [/ \/calendar\/v3\/freeBusy/, /calendar\.freebusy/],
  [/ \/calendar\//, /calendar\.events/],
  [/ \/v1\/people\//, /contacts\.readonly/],
  [/ \/v1\/otherContacts/, /contacts\.other\.readonly/],
];

export async function startGoogleServer({ now = Date.now, port = 0 } = {}): Promise<GoogleServer> {
  const faults: { fault: GoogleFault; left: number; skip: number }[] = [];
  const parts = {
    oauth: createOauthServer(),
    gmail: createGmailServer(now),
    calendar: createCalendarServer(),
    people: createPeopleServer(),
  };
  const calls: string[] = [];
  const takeFault = (call: string): GoogleFault | null => {
    const found = faults.find(({ fault, left }) => left > 0 && call.startsWith(fault.on));
    if (!found) return null;
    if (found.skip > 0) {
      found.skip -= 1;
      return null;
    }
    found.left -= 1;
    return found.fault;
  };
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const call = `${request.method} ${url.pathname}`;
    calls.push(call);
    const hit = takeFault(call);
    const isCarriedOut = hit === null || hit.fault === "lose-answer";
    const reply = isCarriedOut ? await answer(parts, { request, url, text }) : null;
    hit?.onHit?.();
    send(response, hit?.fault ?? null, reply);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    ...parts,
    calls,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: (fault) => faults.push({ fault, left: fault.times ?? 1, skip: fault.after ?? 0 }),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, fault: GoogleFault["fault"] | null, reply: GoogleReply | null): void {
  if (fault === "hang") return;
  if (fault === "drop" || fault === "lose-answer") {
    response.destroy();
    return;
  }
  const json = { "content-type": "application/json; charset=UTF-8" };
  if (fault === "malformed") {
    response.writeHead(200, json).end("<html><body>Please sign in to the network</body></html>");
    return;
  }
  const { status, body, headers = {} } = fault ?? reply ?? notFound();
  if (status === 302) response.writeHead(302, headers).end();
  else response.writeHead(status, { ...json, ...headers }).end(status === 204 ? "" : JSON.stringify(body));
}

type Parts = Pick<GoogleServer, "oauth" | "gmail" | "calendar" | "people">;

async function answer(
  parts: Parts,
  { request, url, text }: { request: IncomingMessage; url: URL; text: string },
): Promise<GoogleReply> {
  const { oauth } = parts;
  const path = url.pathname;
  if (path === "/o/oauth2/v2/auth") {
    const page = oauth.authorize(url.searchParams);
    return typeof page === "string" ? { status: 302, body: null, headers: { location: page } } : page;
  }
  if (path === "/token") return oauth.token(new URLSearchParams(text));
  if (path === "/revoke") return oauth.revoke(url.searchParams.get("token") ?? "");
  const grant = oauth.check(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
  if (!grant) return refuse(401, "authError", "Request had invalid authentication credentials.");
  const [, needed] = scopeOf.find(([call]) => call.test(`${request.method} ${path}`)) ?? [];
  if (needed && !needed.test(grant.scope)) {
    return refuse(403, "insufficientPermissions", "Request had insufficient authentication scopes.");
  }
  const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  const parsed: GoogleRequest = { method: request.method ?? "", path, query: url.searchParams, body };
  if (path.startsWith("/gmail/")) return await parts.gmail.handle(grant.email, parsed);
  if (path.startsWith("/calendar/")) return parts.calendar.handle(grant.email, parsed);
  return parts.people.handle(parsed);
}
