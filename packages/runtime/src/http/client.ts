import {
  type ApprovalAnswer,
  ApprovalRow,
  DaemonStatus,
  type ErrorCode,
  RunResponse,
  SessionDetail,
  type SubmitSession,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import {
  AgentCheck,
  AgentFileList,
  type AgentFiles,
  AgentFileView,
  AgentList,
  AgentRemoved,
  AgentStatsList,
  ApprovalOutcome,
  ApprovalRule,
  CancelOutcome,
  decodeText,
  GrantExplanation,
  HostOutcome,
  type RecordQueries,
  RunControlOutcome,
  type SessionArchive,
  SessionFileContent,
  SessionFileList,
  SessionFileRow,
  type SessionFiles,
  SessionForked,
  SessionImported,
  SessionsRemoved,
  Submitted,
  TeamList,
  TimelinePage,
  UndoOutcome,
  WebhookAdded,
  WebhookList,
  WebhookResent,
  WebhookRow,
  type Webhooks,
  WebhookTest,
} from "@troupe/core/internal";
import { readWholeSession } from "@troupe/core/texts";
import type { z } from "zod";
import { type FollowOptions, followEvents, type HttpEvent } from "./client-events.ts";
import { createQueryClient } from "./client-queries.ts";
import { ApprovalList, ChangePage, EntryPage, HostList, RuleList, SessionList } from "./pages.ts";
import { downloadOf, uploadOf } from "./session-file-content.ts";
import { createTransport, withQuery } from "./transport.ts";

export interface HttpClientOptions {
  /** The URL in the daemon's ready line. */
  url: string;
  token: string;
  /** Longest wait for one reply. Event streams have none. @default 30_000 */
  timeoutMs?: number;
  /** An event stream that is silent for this long counts as broken. @default 45_000, three heartbeats */
  silenceMsMax?: number;
}

/**
 * The daemon's API, for another process. Every call throws a `TroupeError`: the daemon's own with its code and fix, or
 * `UNREACHABLE` or `TIMEOUT` with the daemon's address.
 */
export interface HttpClient
  extends Pick<
    TroupeService,
    | "status"
    | "agents"
    | "agentStats"
    | "cancelRun"
    | "steer"
    | "pause"
    | "resume"
    | "rules"
    | "removeRule"
    | "explain"
    | "hosts"
    | "drainHost"
    | "undo"
  > {
  readonly url: string;
  /** The agent files of the daemon's machine. */
  readonly agentFiles: AgentFiles;
  /** The workbenches of sessions. A file whose bytes do not match their digest fails with `INVALID_MESSAGE`. */
  readonly sessionFiles: SessionFiles;
  /** Search, costs, totals, trees and conversations of the record. */
  readonly queries: RecordQueries;
  /** Import, fork and removal of sessions. */
  readonly sessionArchive: SessionArchive;
  readonly webhooks: Webhooks;
  /** The usable teams of a folder. */
  teams(workspace: string | null): Promise<TeamList>;
  submit(request: z.input<typeof SubmitSession>): Promise<Submitted>;
  cancel(session: string, reason?: string): Promise<CancelOutcome>;
  answer(approval: string, answer: z.input<typeof ApprovalAnswer>): Promise<ApprovalOutcome>;
  /** Oldest first. With `waiting`, the approvals that wait longest; without it, the newest approvals. */
  approvals(options?: { waiting?: boolean; limit?: number }): Promise<ApprovalList>;
  /** Null for an unknown id. */
  approval(id: string): Promise<ApprovalRow | null>;
  sessions(options?: { limit?: number }): Promise<SessionList>;
  /** All pages of the session. */
  session(session: string): Promise<SessionDetail>;
  /** Null while the session has not settled. */
  response(session: string): Promise<RunResponse | null>;
  /** File changes of a run, or of all runs of a session, oldest first. `after` is the `next` of the previous page. */
  changes(of: { session: string } | { run: string }, options?: { after?: number; limit?: number }): Promise<ChangePage>;
  /** When the runs of a session worked and waited. `after` is the `next` of the previous page. */
  timeline(session: string, options?: { after?: number; limit?: number }): Promise<TimelinePage>;
  entries(run: string, options?: { from?: number; limit?: number }): Promise<EntryPage>;
  /**
   * Changes after a position, or from now. Reconnects after a lost connection without gap or repeat, as long as the
   * daemon lives. Ends when `signal` aborts; throws `UNREACHABLE` when the daemon is gone.
   */
  events(options: FollowOptions): AsyncIterable<HttpEvent>;
}

/**
 * Creates a client for a running daemon.
 *
 * @example
 * const client = createHttpClient({ url: "http://127.0.0.1:4317", token });
 * const { session } = await client.submit({ task: "Say hello" });
 * for await (const event of client.events({ session, after: 0, signal })) console.info(event.type);
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { timeoutMs = 30_000, silenceMsMax = 45_000 } = options;
  const transport = createTransport(options);

  const call = async <S extends z.ZodType>(
    schema: S,
    path: string,
    request: RequestOptions = {},
  ): Promise<z.output<S>> => {
    const { body, method = body === undefined ? "GET" : "POST" } = request;
    const waitMs = Math.max(timeoutMs, request.waitMs ?? 0);
    const signal = AbortSignal.timeout(waitMs);
    try {
      const init = { method, signal, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await transport.send(path, init);
      return decodeText(schema, await response.text(), `the reply to ${path}`);
    } catch (error) {
      if (!signal.aborted) throw transport.toError(error);
      throw new TroupeError("TIMEOUT", `no reply from ${transport.url} within ${waitMs} ms`, { cause: error });
    }
  };
  const control = (run: string, command: string, body: object): Promise<RunControlOutcome> =>
    call(RunControlOutcome, `${pathOf("runs", run)}/${command}`, { body });

  return {
    url: transport.url,
    status: () => call(DaemonStatus, "/api/v1/status"),
    agents: (workspace) => call(AgentList, withQuery("/api/v1/agents", { workspace })),
    teams: (workspace) => call(TeamList, withQuery("/api/v1/teams", { workspace })),
    agentFiles: {
      list: (workspace) => call(AgentFileList, withQuery("/api/v1/agent-files", { workspace })),
      read: (id, workspace) => call(AgentFileView, withQuery(pathOf("agent-files", id), { workspace })),
      check: (draft) => call(AgentCheck, "/api/v1/agent-checks", { body: draft }),
      save: (draft) => call(AgentFileView, pathOf("agent-files", draft.id), { method: "PUT", body: draft }),
      remove: (id, removal) => call(AgentRemoved, pathOf("agent-files", id), { method: "DELETE", body: removal }),
    },
    sessionFiles: {
      list: async (session) => (await call(SessionFileList, `${pathOf("sessions", session)}/files`)).files,
      put: (session, file) =>
        call(SessionFileRow, `${pathOf("sessions", session)}/files`, { method: "PUT", body: uploadOf(file) }),
      get: async (session, name) =>
        downloadOf(
          await call(SessionFileContent, withQuery(`${pathOf("sessions", session)}/files/content`, { name })),
          transport.url,
        ),
    },
    queries: createQueryClient(call),
    sessionArchive: {
      import: (text) => call(SessionImported, "/api/v1/session-imports", { body: { text }, waitMs: archiveTimeoutMs }),
      fork: (session, request) =>
        call(SessionForked, `${pathOf("sessions", session)}/fork`, { body: request, waitMs: archiveTimeoutMs }),
      remove: (sessions) =>
        call(SessionsRemoved, "/api/v1/session-removals", { body: { sessions }, waitMs: archiveTimeoutMs }),
    },
    webhooks: {
      list: async () => (await call(WebhookList, "/api/v1/webhooks")).webhooks,
      add: (draft) => call(WebhookAdded, "/api/v1/webhooks", { body: draft }),
      remove: (id) => call(WebhookRow, pathOf("webhooks", id), { method: "DELETE" }),
      test: (id) => call(WebhookTest, `${pathOf("webhooks", id)}/test`, { body: {} }),
      resend: (id) => call(WebhookResent, `${pathOf("webhooks", id)}/resend`, { body: {} }),
    },
    agentStats: (windowMs) => call(AgentStatsList, withQuery("/api/v1/agents/stats", { since: windowMs })),
    submit: (request) => call(Submitted, "/api/v1/sessions", { body: request }),
    cancel: (session, reason) => call(CancelOutcome, `${pathOf("sessions", session)}/cancel`, { body: { reason } }),
    cancelRun: (run, reason) => control(run, "cancel", { reason }),
    steer: (run, text, by) => control(run, "steer", { text, by }),
    pause: (run, by) => control(run, "pause", { by }),
    resume: (run, by) => control(run, "resume", { by }),
    undo: (run, request) => call(UndoOutcome, `${pathOf("runs", run)}/undo`, { body: request, waitMs: undoTimeoutMs }),
    explain: (run) => call(GrantExplanation, `${pathOf("runs", run)}/explain`),
    answer: (approval, answer) => call(ApprovalOutcome, `${pathOf("approvals", approval)}/answer`, { body: answer }),
    approvals: ({ waiting = true, limit } = {}) =>
      call(ApprovalList, withQuery("/api/v1/approvals", { state: waiting ? "waiting" : "all", limit })),
    approval: (id) => nullFor("UNKNOWN_APPROVAL", call(ApprovalRow, pathOf("approvals", id))),
    rules: async () => (await call(RuleList, "/api/v1/rules")).rules,
    removeRule: (rule) => call(ApprovalRule, pathOf("rules", rule), { method: "DELETE" }),
    hosts: async () => (await call(HostList, "/api/v1/hosts")).hosts,
    drainHost: (host, by) => call(HostOutcome, `${pathOf("hosts", host)}/drain`, { body: { by } }),
    sessions: ({ limit } = {}) => call(SessionList, withQuery("/api/v1/sessions", { limit })),
    session: (session) =>
      readWholeSession((after) => call(SessionDetail, withQuery(pathOf("sessions", session), { after }))),
    response: (session) => nullFor("CONFLICT", call(RunResponse, `${pathOf("sessions", session)}/response`)),
    changes: (of, { after, limit } = {}) => {
      const path = "run" in of ? pathOf("runs", of.run) : pathOf("sessions", of.session);
      return call(ChangePage, withQuery(`${path}/changes`, { after, limit }));
    },
    timeline: (session, { after, limit } = {}) =>
      call(TimelinePage, withQuery(`${pathOf("sessions", session)}/timeline`, { after, limit })),
    entries: (run, { from, limit } = {}) =>
      call(EntryPage, withQuery(`${pathOf("runs", run)}/entries`, { from, limit })),
    events: (follow) => followEvents(transport, follow, silenceMsMax),
  };
}

/** An undo of many files takes long. */
const undoTimeoutMs = 10 * 60_000;
/** A large session takes a while to import or remove. */
const archiveTimeoutMs = 600_000;

interface RequestOptions {
  /** A longer wait than usual for the reply. */
  waitMs?: number;
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: unknown;
}

async function nullFor<T>(code: ErrorCode, answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (TroupeError.is(error) && error.code === code) return null;
    throw error;
  }
}

function pathOf(
  what: "sessions" | "runs" | "approvals" | "rules" | "hosts" | "agent-files" | "webhooks",
  id: string,
): string {
  return `/api/v1/${what}/${encodeURIComponent(id)}`;
}
