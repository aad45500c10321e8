import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../database/sqlite.ts";
import { toIso } from "../time.ts";
import type { Charge } from "./cost-sum.ts";

/** The small columns of a run, for sums over many runs. */
export interface RunFacts extends Charge {
  run: string;
  parentRun: string | null;
  session: string;
  agent: string;
  team: string | null;
  model: string | null;
  status: string;
  startedAt: string;
  durationMs: number | null;
  toolCalls: number;
}

export interface FactList {
  facts: RunFacts[];
  /** Runs of demos and replays. */
  leftOut: number;
  isCut: boolean;
}

export interface FactRow extends RunFacts {
  id: number;
  isOffline: number;
}

/** The columns of `messages` are before its large texts, so that no text is read. */
export const factColumns = `
  m.id, m.started_at AS startedAt, r.run_id AS run, r.parent_run AS parentRun, r.session_id AS session,
  m.agent_role AS agent, r.team, m.model_id AS model, r.exact_status AS status, m.duration_ms AS durationMs,
  r.tool_calls AS toolCalls, r.total_tokens AS tokens, r.cost_usd AS costUsd, r.estimated_tokens AS estimatedTokens,
  s.demo OR s.replay AS isOffline`;

const pageRows = 2_000;
/** More runs would need too much memory. */
const runsMax = 250_000;

/**
 * Reads the runs that started at or after a time, the newest first. Demos and replays are only counted: their costs were
 * not paid. It lets other work run between two pages, so that a large record does not hold up its process.
 */
export function createFactReader(database: Database): (sinceMs: number | null) => Promise<FactList> {
  const page = database.prepare<[string, string, number], FactRow>(`
    SELECT ${factColumns}
    FROM messages m JOIN runs r ON r.message_id = m.id JOIN sessions s ON s.session_id = m.session_id
    WHERE m.request_type IS NOT 'tool_call' AND m.started_at >= ? AND (m.started_at, m.id) < (?, ?)
    ORDER BY m.started_at DESC, m.id DESC LIMIT ${pageRows}`);

  async function* pagesSince(since: string): AsyncGenerator<FactRow[]> {
    // A time ends with Z, and ~ is after every character of a time.
    let last: Pick<FactRow, "startedAt" | "id"> | undefined = { startedAt: "~", id: 0 };
    while (last) {
      const rows: FactRow[] = page.all(since, last.startedAt, last.id);
      yield rows;
      last = rows.length < pageRows ? undefined : rows.at(-1);
      if (last) await nextTurn();
    }
  }

  return async (sinceMs) => {
    const facts: RunFacts[] = [];
    let leftOut = 0;
    for await (const rows of pagesSince(sinceMs === null ? "" : toIso(sinceMs))) {
      const paid = rows.filter(({ isOffline }) => isOffline === 0);
      leftOut += rows.length - paid.length;
      facts.push(...paid);
      if (facts.length >= runsMax) return { facts: facts.slice(0, runsMax), leftOut, isCut: true };
    }
    return { facts, leftOut, isCut: false };
  };
}

/** Facts between which other work can run: sums over a large record take longer than a process may stand still. */
const factsPerTurn = 10_000;

/** Calls a function with each fact, and lets other work run from time to time. */
export async function forEachFact(facts: readonly RunFacts[], act: (fact: RunFacts) => void): Promise<void> {
  for (const [i, fact] of facts.entries()) {
    if (i > 0 && i % factsPerTurn === 0) await nextTurn();
    act(fact);
  }
}

export type Ancestry = (fact: RunFacts) => Generator<RunFacts>;

/** The runs above a run, from its parent up, as far as they are among the facts. */
export async function createAncestry(facts: readonly RunFacts[]): Promise<Ancestry> {
  const byRun = new Map<string, RunFacts>();
  await forEachFact(facts, (fact) => void byRun.set(fact.run, fact));
  return climb(byRun);
}

/** The same, at once: for the runs of one session. */
export function ancestryOf(facts: readonly RunFacts[]): Ancestry {
  return climb(new Map(facts.map((fact) => [fact.run, fact])));
}

function climb(byRun: ReadonlyMap<string, RunFacts>): Ancestry {
  return function* above({ parentRun }) {
    // A chain has no cycle: ids of children are derived from their parents. The bound protects from a damaged file.
    let steps = 0;
    for (let at = byRun.get(parentRun ?? ""); at && steps < 1_000; at = byRun.get(at.parentRun ?? "")) {
      steps += 1;
      yield at;
    }
  };
}
