import type { RunResponse } from "@troupe/core";
import { TroupeError } from "@troupe/core/errors";
import { readWholeSession } from "@troupe/core/texts";
import { type ClientEvent, type EventsFrom, followEvents } from "./follow.ts";
import type { RequestArguments, Route, RouteInput, RouteReply } from "./routes.ts";
import { type RunTree, treesOf } from "./run-tree.ts";
import { createTransport, type Transport } from "./transport.ts";

export interface ClientOptions {
  /** The daemon's URL, such as `http://127.0.0.1:4711`. */
  url: string;
  /** The token, from the file `token` of the home. */
  token: string;
  /** The longest wait for one reply. Events have no such limit. @default 30_000 */
  timeoutMs?: number;
}

type Body<R extends Route> = RouteInput<R> extends { body: infer B } ? B : never;

/** A client of a running daemon. Every failure is a `TroupeError` with a code and a fix. */
export interface Client {
  readonly url: string;
  /**
   * Calls any route of the API. Input and reply have the types of the route.
   *
   * @example
   * const { sessions } = await client.request("GET /sessions", { query: { limit: 5 } });
   */
  request<R extends Route>(route: R, ...input: RequestArguments<R>): Promise<RouteReply<R>>;
  status(): Promise<RouteReply<"GET /status">>;
  /** The newest sessions, newest first, and the position for `follow`. */
  list(options?: { limit?: number }): Promise<RouteReply<"GET /sessions">>;
  /** Starts a session, or with `continues` another turn. It is durable when this resolves. */
  submit(request: Body<"POST /sessions">): Promise<RouteReply<"POST /sessions">>;
  /**
   * Starts a session and waits for its response. An abort of the signal cancels the session.
   *
   * @example
   * const { status, summary } = await client.run({ task: "Which licences do our dependencies have?" });
   */
  run(request: Body<"POST /sessions">, options?: { signal?: AbortSignal }): Promise<RunResponse>;
  /** The session with all of its runs and approvals: it reads as many pages as it needs. */
  get(session: string): Promise<RouteReply<"GET /sessions/{id}">>;
  /** The runs of a session as trees, one for each turn. */
  tree(session: string): Promise<RunTree[]>;
  /** The response of the newest turn; null while it works. */
  response(session: string): Promise<RunResponse | null>;
  /**
   * The events of one session or of all, without gap or repeat: a lost connection is opened again where it ended.
   *
   * @example
   * for await (const event of client.follow({ session, after: 0 })) {
   *   if (event.type === "change") console.info(event.change.runs.length);
   *   if (event.type === "resync") console.info((await client.get(session)).runs.length);
   * }
   */
  follow(options?: EventsFrom): AsyncIterable<ClientEvent>;
  /** Stops all runs of a session. */
  cancel(session: string, reason?: string): Promise<RouteReply<"POST /sessions/{id}/cancel">>;
  /** The open approvals, the oldest first; or the newest of any state. */
  approvals(options?: { state?: "waiting" | "all"; limit?: number }): Promise<RouteReply<"GET /approvals">>;
  /** Approves a request once, or as the answer says. The first answer holds. */
  approve(
    id: string,
    answer?: Partial<Body<"POST /approvals/{id}/answer">>,
  ): Promise<RouteReply<"POST /approvals/{id}/answer">>;
  deny(id: string, reason?: string): Promise<RouteReply<"POST /approvals/{id}/answer">>;
  /** Sends a message to a run's model. */
  steer(run: string, text: string): Promise<RouteReply<"POST /runs/{run}/steer">>;
  pause(run: string): Promise<RouteReply<"POST /runs/{run}/pause">>;
  resume(run: string): Promise<RouteReply<"POST /runs/{run}/resume">>;
  cancelRun(run: string, reason?: string): Promise<RouteReply<"POST /runs/{run}/cancel">>;
}

/**
 * Creates a client. It sends nothing before the first call.
 *
 * @example
 * import { createClient } from "troupe/client";
 *
 * const client = createClient({ url: "http://127.0.0.1:4711", token });
 * const { session } = await client.submit({ task: "Say hello" });
 * for await (const event of client.follow({ session, after: 0 })) console.info(event.type);
 */
export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options);
  const request: Client["request"] = (route, ...[input]) =>
    send(transport, route, { timeoutMs: options.timeoutMs ?? 30_000, ...input });
  const response = async (session: string): Promise<RunResponse | null> => {
    try {
      return await request("GET /sessions/{id}/response", { params: { id: session } });
    } catch (error) {
      if (TroupeError.is(error) && error.code === "CONFLICT") return null;
      throw error;
    }
  };
  const client: Client = {
    url: transport.url,
    request,
    status: () => request("GET /status"),
    list: (query = {}) => request("GET /sessions", { query }),
    submit: (body) => request("POST /sessions", { body }),
    run: (body, { signal } = {}) => runSession(client, body, signal),
    get: (id) => readWholeSession((after) => request("GET /sessions/{id}", { params: { id }, query: { after } })),
    tree: async (id) => treesOf((await client.get(id)).runs),
    response,
    follow: (follow = {}) => followEvents(transport, follow),
    cancel: (id, reason) => request("POST /sessions/{id}/cancel", { params: { id }, body: { reason } }),
    approvals: (query = {}) => request("GET /approvals", { query }),
    approve: (id, answer) =>
      request("POST /approvals/{id}/answer", { params: { id }, body: { ...answer, approved: true } }),
    deny: (id, reason = "") =>
      request("POST /approvals/{id}/answer", { params: { id }, body: { approved: false, reason: reason || null } }),
    steer: (run, text) => request("POST /runs/{run}/steer", { params: { run }, body: { text } }),
    pause: (run) => request("POST /runs/{run}/pause", { params: { run } }),
    resume: (run) => request("POST /runs/{run}/resume", { params: { run } }),
    cancelRun: (run, reason) => request("POST /runs/{run}/cancel", { params: { run }, body: { reason } }),
  };
  return client;
}

interface AnyInput {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  timeoutMs: number;
  signal?: AbortSignal;
}

async function send<R extends Route>(transport: Transport, route: R, input: AnyInput): Promise<RouteReply<R>> {
  const { params = {}, query = {}, body = {}, timeoutMs, signal } = input;
  const [method = "GET", template = ""] = route.split(" ");
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await transport.send(search.size === 0 ? path : `${path}?${search}`, {
      method,
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    return (isJson ? await response.json() : await response.text()) as RouteReply<R>;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!timeout.aborted) throw error;
    throw new TroupeError("TIMEOUT", `no reply from ${transport.url} within ${timeoutMs} ms`, { cause: error });
  }
}

/** Follows from a position before the start, so that no change is missed. */
async function runSession(
  client: Client,
  body: Body<"POST /sessions">,
  signal: AbortSignal | undefined,
): Promise<RunResponse> {
  const { position } = await client.list({ limit: 1 });
  signal?.throwIfAborted();
  const { session, run } = await client.submit(body);
  for await (const event of client.follow({ session, after: position, ...(signal ? { signal } : {}) })) {
    if (event.type === "live" || (event.type === "change" && event.change.sessions.length === 0)) continue;
    const response = await client.response(session);
    // The record can still have the turn before.
    if (response?.runId === run) return response;
  }
  await client.cancel(session, "cancelled by the program");
  throw signal?.reason;
}
