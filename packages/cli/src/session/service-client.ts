import { SubmitSession, TroupeError, type TroupeService } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import type { ClientEvent, TroupeClient } from "./client.ts";

const changesPerPage = 500;

/** Unread events. Beyond this limit the reader gets one `resync` and loads the rows itself. */
const waitingMax = 10_000;

/**
 * The client of a troupe in this process. `troupe run` uses it when it owns the home. It has the methods of the HTTP client
 * and calls the service directly.
 */
export function createServiceClient(service: TroupeService): TroupeClient {
  const { record } = service;
  return {
    status: () => service.status(),
    agents: (workspace) => service.agents(workspace),
    agentStats: (windowMs) => service.agentStats(windowMs),
    queries: record.queries,
    submit: async (request) => await service.submit(parseRequest(request)),
    cancel: (session, reason) => service.cancel(session, reason),
    cancelRun: (run, reason) => service.cancelRun(run, reason),
    steer: (run, text, by) => service.steer(run, text, by),
    pause: (run, by) => service.pause(run, by),
    resume: (run, by) => service.resume(run, by),
    undo: (run, request) => service.undo(run, request),
    explain: (run) => service.explain(run),
    answer: (approval, answer) => service.answer(approval, answer),
    rules: () => service.rules(),
    removeRule: (rule) => service.removeRule(rule),
    sessionFiles: service.sessionFiles,
    sessionArchive: service.sessionArchive,
    webhooks: service.webhooks,
    hosts: () => service.hosts(),
    drainHost: (host, by) => service.drainHost(host, by),
    async sessions({ limit }) {
      const position = record.position();
      return { position, sessions: await record.sessions({ limit }) };
    },
    session: (session) => record.session(session),
    response: (session) => record.response(session),
    async changes(of, { after }) {
      const changes = await record.changes(of, { after, limit: changesPerPage });
      return { changes, next: changes.length === changesPerPage ? (changes.at(-1)?.id ?? null) : null };
    },
    async approvals(options) {
      const position = record.position();
      return { position, approvals: await record.approvals(options) };
    },
    events: (options) => eventsOf(service, options),
  };
}

/** The check that the HTTP API makes too. */
function parseRequest(request: SubmitSession): SubmitSession {
  const parsed = SubmitSession.safeParse(request);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue && issue.path.length > 0 ? ` at ${issue.path.join(".")}` : "";
  throw new TroupeError("USAGE", `the request does not fit its schema${where}: ${issue?.message ?? "unknown"}`);
}

/** Missed changes first, then new changes and live events, in order. Ends when `signal` aborts. */
async function* eventsOf(
  { record, onLive }: TroupeService,
  { session, after, signal }: { session: string; after: number; signal: AbortSignal },
): AsyncGenerator<ClientEvent> {
  const waiting: ClientEvent[] = [];
  let wake = (): void => {};
  let position = after;
  const push = (event: ClientEvent): void => {
    if (waiting.length >= waitingMax) waiting.splice(0, waiting.length, { type: "resync" });
    else waiting.push(event);
    wake();
  };
  const onChange = (change: RecordChange): void => {
    if (change.position <= position) return;
    position = change.position;
    const narrowed = ofSession(change, session);
    if (narrowed) push({ type: "change", change: narrowed });
  };
  const abort = (): void => wake();
  const late: RecordChange[] = [];
  let isCaughtUp = false;
  const stops = [
    record.onChange((change) => (isCaughtUp ? onChange(change) : void late.push(change))),
    onLive((event) => {
      if (event.session === session) push({ type: "live", event });
    }),
  ];
  signal.addEventListener("abort", abort, { once: true });
  try {
    const missed = await record.changesSince(after);
    if (missed) onChange(missed);
    else push({ type: "resync" });
    isCaughtUp = true;
    for (const change of late) onChange(change);
    while (!signal.aborted) {
      const next = waiting.shift();
      if (next) yield next;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0 || signal.aborted) resolve();
        });
      }
    }
  } finally {
    signal.removeEventListener("abort", abort);
    for (const stop of stops) stop();
  }
}

/** Null if the change does not concern the session. */
function ofSession(change: RecordChange, session: string): RecordChange | null {
  const ours = (row: { session: string }): boolean => row.session === session;
  const sessions = change.sessions.filter(ours);
  const runs = change.runs.filter(ours);
  const approvals = change.approvals.filter(ours);
  const isEmpty = sessions.length + runs.length + approvals.length === 0;
  return isEmpty ? null : { position: change.position, sessions, runs, approvals };
}
