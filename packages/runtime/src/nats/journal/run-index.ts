import type { OpenRun, ParsedSubject, Subjects } from "@troupe/core";
import type { Delivered } from "./pull-consumer.ts";
import { readHead } from "./wire.ts";

/** What is known of one run by the headers of its messages. */
interface Known {
  run: string;
  /** Sequence of what first spoke of it. */
  since: number;
  lastIndex: number;
  terminal: boolean;
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
  forget(session: string): void;
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
    const created = { run, since: sequence, lastIndex: -1, terminal: false, atMs };
    of.runs.set(run, created);
    of.open += 1;
    return created;
  };

  /** The run that a message says something new of. */
  const learnRun = (place: ParsedSubject, message: Delivered): KnownSession | null => {
    const head = readHead(message.headers);
    if (place.kind === "inbox" && head.kind === "inbox") {
      const session = sessionOf(place.session);
      if (head.opens !== "") runOf(session, head.opens, message);
      return session;
    }
    if (place.kind !== "journal" || head.kind !== "entries") return null;
    const before = sessions.get(place.session)?.runs.get(place.run);
    if (before?.terminal || head.first !== (before?.lastIndex ?? -1) + 1) return null;
    const session = sessionOf(place.session);
    const run = runOf(session, place.run, message);
    run.lastIndex = head.last;
    run.atMs = message.atMs;
    run.terminal = head.terminal;
    if (run.terminal) session.open -= 1;
    return session;
  };

  return {
    learn(message) {
      const place = subjects.parse(message.subject);
      const session = place && learnRun(place, message);
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
    forget(session) {
      sessions.delete(session);
    },
  };
}

function pick<V>(map: ReadonlyMap<string, V>, key: string): [string, V][] {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
}
