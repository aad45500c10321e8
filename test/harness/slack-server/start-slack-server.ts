import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { methods, needScope, SlackRefusal } from "./slack-methods.ts";
import type { SlackWorkspace } from "./slack-workspace.ts";

/** A fault of the next call of a method. */
export type SlackFault =
  | { kind: "error"; code: string; fields?: Record<string, unknown> }
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: string }
  /** Answers with status 200 and this body. */
  | { kind: "body"; body: string }
  /** Never answers. */
  | { kind: "silent" }
  /** Does the work, then closes the connection without an answer. */
  | { kind: "lost" }
  /** Does the work, then closes the connection within the answer. */
  | { kind: "half" };

export interface SlackServer {
  /** The base URL of the Web API, for `slackApiUrl` of the SDK. */
  apiUrl: string;
  /** Methods in the order of their calls, with their arguments. */
  calls: { method: string; args: Record<string, string> }[];
  /** Plays a fault for the next call of a method. Several faults of a method play in order. */
  fail(method: string, fault: SlackFault): void;
  close(): Promise<void>;
}

/**
 * Starts a server with the protocol of Slack's Web API for the real SDK: form bodies, bearer tokens, scopes, cursors, errors
 * with status 200, and 429 with Retry-After.
 *
 * @example
 * const server = await startSlackServer(workspace);
 * const web = new WebClient("xoxb-1", { slackApiUrl: server.apiUrl });
 */
export async function startSlackServer(workspace: SlackWorkspace): Promise<SlackServer> {
  const faults: { method: string; fault: SlackFault }[] = [];
  const calls: SlackServer["calls"] = [];
  const server = createServer(async (request, response) => {
    const method = (request.url ?? "").replace(/^\/api\//, "");
    const args = await readForm(request);
    calls.push({ method, args: Object.fromEntries(args) });
    const at = faults.findIndex((each) => each.method === method);
    const fault = at < 0 ? null : (faults.splice(at, 1)[0]?.fault ?? null);
    if (fault?.kind === "silent") return;
    if (fault && playBefore(fault, response)) return;
    const body = JSON.stringify(answer(workspace, { method, args, request, response }));
    if (fault) return playAfter(fault, response, body);
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    calls,
    fail: (method, fault) => void faults.push({ method, fault }),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

function playBefore(fault: SlackFault, response: ServerResponse): boolean {
  if (fault.kind === "status") {
    response.writeHead(fault.status, { "content-type": "text/html", ...fault.headers }).end(fault.body ?? "");
    return true;
  }
  if (fault.kind === "body") {
    response.writeHead(200, { "content-type": "application/json" }).end(fault.body);
    return true;
  }
  if (fault.kind !== "error") return false;
  const body = JSON.stringify({ ok: false, error: fault.code, ...fault.fields });
  response.writeHead(200, { "content-type": "application/json" }).end(body);
  return true;
}

function playAfter(fault: SlackFault, response: ServerResponse, body: string): void {
  if (fault.kind === "lost") return void response.destroy();
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}

interface Request {
  method: string;
  args: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
}

function answer(workspace: SlackWorkspace, { method, args, request, response }: Request): object {
  try {
    if (method === "oauth.v2.access") return { ok: true, ...rotate(workspace, args) };
    const given = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (given === undefined) throw new SlackRefusal("not_authed");
    const token = workspace.tokens.get(given);
    if (!token) throw new SlackRefusal("invalid_auth");
    if (token.state !== "valid") throw new SlackRefusal(token.state);
    response.setHeader("x-oauth-scopes", token.scopes.join(","));
    const known = methods[method];
    if (!known) throw new SlackRefusal("unknown_method", { req_method: method });
    needScope(token, ...known.scopes);
    return { ok: true, ...known.run({ workspace, args, token }) };
  } catch (thrown) {
    if (!(thrown instanceof SlackRefusal)) throw thrown;
    return { ok: false, error: thrown.code, ...thrown.fields };
  }
}

/** A refresh token works once. The old access token ends at once, as after Slack's grace period. */
function rotate(workspace: SlackWorkspace, args: URLSearchParams): object {
  if (args.get("client_id") !== "client" || args.get("client_secret") !== "client-secret") {
    throw new SlackRefusal("bad_client_secret");
  }
  const given = args.get("refresh_token") ?? "";
  const owner = workspace.refreshTokens.get(given);
  if (args.get("grant_type") !== "refresh_token" || !owner) throw new SlackRefusal("invalid_refresh_token");
  workspace.refreshTokens.delete(given);
  for (const token of workspace.tokens.values()) if (token.user === owner.user) token.state = "token_expired";
  const number = workspace.tokens.size + 1;
  const [access_token, refresh_token] = [`xoxe.xoxp-new-${number}`, `xoxe-1-new-${number}`];
  workspace.tokens.set(access_token, { user: owner.user, isBot: false, scopes: owner.scopes, state: "valid" });
  workspace.refreshTokens.set(refresh_token, owner);
  return { access_token, refresh_token, expires_in: 43_200, token_type: "user" };
}
