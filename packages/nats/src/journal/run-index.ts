import type { OpenRun, ParsedSubject, Subjects } from "@troupe/core/internal";
import type { Delivered } from "./pull-consumer.ts";
import { type EntriesHead, type InboxHead, readHead } from "./wire.ts";

/** What is known of one run by the headers of its messages. */
interface Known {
  run: string;
  /** Sequence of what first spoke of it. */
  since: number;
  lastIndex: number;
  terminal: boolean;
  /** Whether an inbox asked for it: it may be asked for again when it has settled. */
  requested: boolean;
  /** Of its newest message. */
  sequence: number;
  /** When its newest message came, by the server's clock. */
  atMs: number;
}

interface KnownSession {
  runs: Map<string, Known>;
  open: number;
  newestAtMs: number;
  newestSequence: number;
}

/** A session of which no run is open. */
export interface SettledSession {
  session: string;
  /** When the last was written about it, by the server's clock. */
  endedAtMs: number;
  /** What was written about it has positions up to this. */
  sequence: number;
}

/** Which runs are open, learned from messages in their order. Knows nothing of bodies. */
export interface RunIndex {
  learn(message: Delivered): void;
  /** Oldest first. */
  open(nowMs: number, session?: string): OpenRun[];
  settled(): SettledSession[];
  /** What was said of a session up to a sequence is there no more. */
  forget(session: string, through: number): void;
}

export function createRunIndex(subjects: Subjects): RunIndex {
  const sessions = new Map<string, KnownSession>();

  const sessionOf = (session: string): KnownSession => {
    const found = sessions.get(session);
    if (found) return found;
    const created = { runs: new Map(), open: 0, newestAtMs: 0, newestSequence: 0 };
    sessions.set(session, created);
    return created;
  };
  const runOf = (of: KnownSession, run: string, { sequence, atMs }: Delivered): Known => {
    const found = of.runs.get(run);
    if (found) return found;
    const created = { run, since: sequence, lastIndex: -1, terminal: false, requested: false, sequence, atMs };
    of.runs.set(run, created);
    of.open += 1;
    return created;
  };

  const learnItem = (of: string, { opens }: InboxHead, message: Delivered): KnownSession => {
    const session = sessionOf(of);
    if (opens !== "") runOf(session, opens, message).requested = true;
    return session;
  };
  const learnEntries = (
    place: { session: string; run: string },
    head: EntriesHead,
    message: Delivered,
  ): KnownSession | null => {
    const before = sessions.get(place.session)?.runs.get(place.run);
    if (head.first > (before?.lastIndex ?? -1) + 1) return null;
    // Writers look at bodies: what they write over was none of ours, whatever its headers said.
    const session = sessionOf(place.session);
    const run = runOf(session, place.run, message);
    if (run.terminal !== head.terminal) session.open += head.terminal ? -1 : 1;
    run.lastIndex = head.last;
    run.terminal = head.terminal;
    run.sequence = message.sequence;
    run.atMs = message.atMs;
    if (session.open === 0) forgetChildren(session);
    return session;
  };
  /** The session that a message says something new of. */
  const learn = (place: ParsedSubject, message: Delivered): KnownSession | null => {
    const head = readHead(message.headers);
    if (place.kind === "inbox" && head.kind === "inbox") return learnItem(place.session, head, message);
    return place.kind === "journal" && head.kind === "entries" ? learnEntries(place, head, message) : null;
  };

  return {
    learn(message) {
      const place = subjects.parse(message.subject);
      const session = place && learn(place, message);
      if (!session) return;
      session.newestAtMs = message.atMs;
      session.newestSequence = message.sequence;
    },
    open(nowMs, of) {
      const found: (Known & { session: string })[] = [];
      for (const [session, { runs, open }] of of === undefined ? sessions : pick(sessions, of)) {
        if (open === 0) continue;
        for (const known of runs.values()) if (!known.terminal) found.push({ ...known, session });
      }
      return found
        .sort((a, b) => a.since - b.since)
        .map(({ session, run, lastIndex, atMs }) => ({ session, run, lastIndex, idleMs: Math.max(0, nowMs - atMs) }));
    },
    settled() {
      return [...sessions]
        .filter(([, { open }]) => open === 0)
        .map(([session, { newestAtMs, newestSequence }]) => {
          return { session, endedAtMs: newestAtMs, sequence: newestSequence };
        });
    },
    forget(session, through) {
      const found = sessions.get(session);
      if (!found) return;
      for (const { run, sequence } of [...found.runs.values()]) if (sequence <= through) drop(found, run);
      if (found.newestSequence <= through) sessions.delete(session);
    },
  };
}

/** Of a session that has settled nobody asks for more than its end. */
function forgetChildren({ runs }: KnownSession): void {
  for (const { run, requested } of [...runs.values()]) if (!requested) runs.delete(run);
}

function drop(session: KnownSession, run: string): void {
  if (session.runs.get(run)?.terminal === false) session.open -= 1;
  session.runs.delete(run);
}

function pick<V>(map: ReadonlyMap<string, V>, key: string): [string, V][] {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
}
