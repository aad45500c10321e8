import type { OpenRun, ParsedSubject, Subjects } from "@troupe/core/internal";
import type { DeliveredMessage } from "./pull-consumer.ts";
import { type EntriesHeader, type InboxHeader, readHeader } from "./wire.ts";

/** A run by the headers of its messages. */
interface IndexedRun {
  run: string;
  /** Sequence of the first message about the run: a request or an entry. */
  firstSequence: number;
  lastIndex: number;
  terminal: boolean;
  /** True if an inbox item requested it. It stays in the index after its end, because it may be requested again. */
  requested: boolean;
  /** Sequence of its newest message. */
  sequence: number;
  /** Time of its newest message, by the server's clock. */
  atMs: number;
}

interface IndexedSession {
  runs: Map<string, IndexedRun>;
  openCount: number;
  newestAtMs: number;
  newestSequence: number;
}

/** A session without an open run, in the stream. */
export interface IndexedSettledSession {
  session: string;
  /** Time of the session's newest message, by the server's clock. */
  endedAtMs: number;
  /** Sequence of the session's newest message. */
  sequence: number;
}

/** Index of runs, built from the headers of messages in their order. It never reads bodies. */
export interface RunIndex {
  add(message: DeliveredMessage): void;
  /** Open runs, oldest first. */
  openRuns(nowMs: number, session?: string): OpenRun[];
  settledSessions(): IndexedSettledSession[];
  /** Removes the part of a session that was purged: all messages up to a sequence. */
  forget(session: string, through: number): void;
}

export function createRunIndex(subjects: Subjects): RunIndex {
  const sessions = new Map<string, IndexedSession>();

  const sessionOf = (session: string): IndexedSession => {
    const found = sessions.get(session);
    if (found) return found;
    const created = { runs: new Map(), openCount: 0, newestAtMs: 0, newestSequence: 0 };
    sessions.set(session, created);
    return created;
  };
  const runOf = (session: IndexedSession, run: string, { sequence, atMs }: DeliveredMessage): IndexedRun => {
    const found = session.runs.get(run);
    if (found) return found;
    const created = { run, firstSequence: sequence, lastIndex: -1, terminal: false, requested: false, sequence, atMs };
    session.runs.set(run, created);
    session.openCount += 1;
    return created;
  };

  const addItem = (sessionId: string, { opens }: InboxHeader, message: DeliveredMessage): IndexedSession => {
    const session = sessionOf(sessionId);
    if (opens !== "") runOf(session, opens, message).requested = true;
    return session;
  };
  const addEntries = (
    location: { session: string; run: string },
    header: EntriesHeader,
    message: DeliveredMessage,
  ): IndexedSession | null => {
    const before = sessions.get(location.session)?.runs.get(location.run);
    if (header.first > (before?.lastIndex ?? -1) + 1) return null;
    // Writers also check bodies. An index that was written again replaces an invalid message with valid headers.
    const session = sessionOf(location.session);
    const run = runOf(session, location.run, message);
    if (run.terminal !== header.terminal) session.openCount += header.terminal ? -1 : 1;
    run.lastIndex = header.last;
    run.terminal = header.terminal;
    run.sequence = message.sequence;
    run.atMs = message.atMs;
    if (session.openCount === 0) deleteChildRuns(session);
    return session;
  };
  /** The session that the message changes, else null. */
  const index = (location: ParsedSubject, message: DeliveredMessage): IndexedSession | null => {
    const header = readHeader(message.headers);
    if (location.kind === "inbox" && header.kind === "inbox") return addItem(location.session, header, message);
    return location.kind === "journal" && header.kind === "entries" ? addEntries(location, header, message) : null;
  };

  return {
    add(message) {
      const location = subjects.parse(message.subject);
      const session = location && index(location, message);
      if (!session) return;
      session.newestAtMs = message.atMs;
      session.newestSequence = message.sequence;
    },
    openRuns(nowMs, onlySession) {
      const found: (IndexedRun & { session: string })[] = [];
      for (const [session, { runs, openCount }] of onlySession === undefined ? sessions : pick(sessions, onlySession)) {
        if (openCount === 0) continue;
        for (const run of runs.values()) if (!run.terminal) found.push({ ...run, session });
      }
      return found
        .sort((a, b) => a.firstSequence - b.firstSequence)
        .map(({ session, run, lastIndex, atMs }) => ({ session, run, lastIndex, idleMs: Math.max(0, nowMs - atMs) }));
    },
    settledSessions() {
      return [...sessions]
        .filter(([, { openCount }]) => openCount === 0)
        .map(([session, { newestAtMs, newestSequence }]) => {
          return { session, endedAtMs: newestAtMs, sequence: newestSequence };
        });
    },
    forget(sessionId, through) {
      const session = sessions.get(sessionId);
      if (!session) return;
      for (const { run, sequence } of [...session.runs.values()]) if (sequence <= through) deleteRun(session, run);
      if (session.newestSequence <= through) sessions.delete(sessionId);
    },
  };
}

/** Saves memory: of a settled session only the requested runs can become open again. */
function deleteChildRuns({ runs }: IndexedSession): void {
  for (const { run, requested } of [...runs.values()]) if (!requested) runs.delete(run);
}

function deleteRun(session: IndexedSession, run: string): void {
  if (session.runs.get(run)?.terminal === false) session.openCount -= 1;
  session.runs.delete(run);
}

function pick<V>(map: ReadonlyMap<string, V>, key: string): [string, V][] {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
}
