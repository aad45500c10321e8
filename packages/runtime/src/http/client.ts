import {
  AgentList,
  CancelOutcome,
  DaemonStatus,
  decodeText,
  RunResponse,
  SessionDetail,
  type SubmitSession,
  Submitted,
  TroupeError,
} from "@troupe/core";
import type { z } from "zod";
import { type FollowOptions, followEvents, type HttpEvent } from "./client-events.ts";
import { createExchange, withQuery } from "./exchange.ts";
import { EntryPage, SessionList } from "./pages.ts";

export interface HttpClientOptions {
  /** Where the daemon is, as its ready line says. */
  url: string;
  token: string;
  /** Longest wait for one answer. Events have none. @default 30_000 */
  timeoutMs?: number;
  /** Silence after which an event stream counts as broken: three heartbeats. @default 45_000 */
  silenceMsMax?: number;
}

/**
 * The daemon's API from another process. Every call throws a `TroupeError`: the daemon's own, code and fix included,
 * or `UNREACHABLE` and `TIMEOUT`, which name its address.
 */
export interface HttpClient {
  readonly url: string;
  status(): Promise<DaemonStatus>;
  /** `null`: only what does not depend on a workspace. */
  agents(workspace: string | null): Promise<AgentList>;
  submit(request: z.input<typeof SubmitSession>): Promise<Submitted>;
  cancel(session: string, reason?: string): Promise<CancelOutcome>;
  sessions(options?: { limit?: number }): Promise<SessionList>;
  session(session: string): Promise<SessionDetail>;
  /** Null while the session has not settled. */
  response(session: string): Promise<RunResponse | null>;
  entries(run: string, options?: { from?: number; limit?: number }): Promise<EntryPage>;
  /**
   * What changes, from a position on, or from now. Goes on after a lost connection as if there had been none, while
   * the daemon lives. Ends when `signal` aborts; throws `UNREACHABLE` when nothing listens at the address any more.
   */
  events(options: FollowOptions): AsyncIterable<HttpEvent>;
}

/**
 * @example
 * const client = createHttpClient({ url: "http://127.0.0.1:4317", token });
 * const { session } = await client.submit({ task: "Say hello" });
 * for await (const event of client.events({ session, after: 0, signal })) console.info(event.type);
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { timeoutMs = 30_000, silenceMsMax = 45_000 } = options;
  const exchange = createExchange(options);

  const call = async <S extends z.ZodType>(schema: S, path: string, body?: unknown): Promise<z.output<S>> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await exchange.send(path, { ...init, signal });
      return decodeText(schema, await response.text(), `the answer to ${path}`);
    } catch (error) {
      if (!signal.aborted) throw exchange.toError(error);
      throw new TroupeError("TIMEOUT", `no answer from ${exchange.url} within ${timeoutMs} ms`, { cause: error });
    }
  };

  return {
    url: exchange.url,
    status: () => call(DaemonStatus, "/api/status"),
    agents: (workspace) => call(AgentList, withQuery("/api/agents", { workspace })),
    submit: (request) => call(Submitted, "/api/sessions", request),
    cancel: (session, reason) => call(CancelOutcome, `${sessionPath(session)}/cancel`, { reason }),
    sessions: ({ limit } = {}) => call(SessionList, withQuery("/api/sessions", { limit })),
    session: (session) => call(SessionDetail, sessionPath(session)),
    async response(session) {
      try {
        return await call(RunResponse, `${sessionPath(session)}/response`);
      } catch (error) {
        if (TroupeError.is(error) && error.code === "CONFLICT") return null;
        throw error;
      }
    },
    entries: (run, { from, limit } = {}) =>
      call(EntryPage, withQuery(`/api/runs/${encodeURIComponent(run)}/entries`, { from, limit })),
    events: (follow) => followEvents(exchange, follow, silenceMsMax),
  };
}

function sessionPath(session: string): string {
  return `/api/sessions/${encodeURIComponent(session)}`;
}
