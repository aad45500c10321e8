import type { Entry } from "@troupe/core";
import { answeredEffect } from "@troupe/core/internal";
import { chainProblems } from "../../harness/journal-file.ts";
import { type LedgerCall, repeatedKeys } from "../../harness/ledger.ts";
import type { StoredEntry } from "./journal-stream.ts";
import { none, noted, type OracleResult } from "./oracle-result.ts";

export type StoredRuns = ReadonlyMap<string, readonly StoredEntry[]>;

/**
 * A process that was stopped and continued. Between its check of a lease and the call lies a moment: each stop there lets
 * one call go out late (docs/reliability.md, K5).
 */
export interface SuspendedProcess {
  pid: number;
  stops: number;
}

/**
 * O1: a call with an outcome in the journal is not repeated, and has one outcome. A call in flight at the death of its
 * host may be repeated once for each claim of the run. Unsafe calls are never repeated.
 */
export function callOracle(
  runs: StoredRuns,
  calls: readonly LedgerCall[],
  suspended: SuspendedProcess | null = null,
): OracleResult[] {
  const all = [...runs.values()].flat();
  const doneAt = new Map<string, number>();
  const outcomes = all.flatMap(({ entry, storedAt }) => {
    const key = outcomeKeyOf(entry);
    if (key !== null && !doneAt.has(key)) doneAt.set(key, storedAt);
    return key === null ? [] : [key];
  });
  const unsafe = new Set(all.flatMap(({ entry }) => unsafeKeyOf(entry) ?? []));
  const counts = new Map<string, number>();
  for (const { key } of calls) counts.set(key, (counts.get(key) ?? 0) + 1);
  const repeated = [...counts].filter(([, count]) => count > 1);
  const begunLate = calls.filter(({ key, at }) => at > (doneAt.get(key) ?? Number.POSITIVE_INFINITY));
  const permitted = begunLate.filter(({ pid }) => pid === suspended?.pid).slice(0, suspended?.stops);
  const late = begunLate.filter((call) => !permitted.includes(call));
  const tooOften = repeated.filter(([key, count]) => count > claimsOf(runs, key));
  const isModel = ([key]: readonly [string, number]): boolean => !key.includes("/tool/");
  return [
    noted("model and tool calls", calls.length),
    none("O1 calls begun after their outcome was in the journal", late.map(shown)),
    none("O1 calls with more than one outcome", repeatedKeys(outcomes)),
    none(
      "O1 unsafe calls begun twice",
      repeated.filter(([key]) => unsafe.has(key)).map(([key]) => key),
    ),
    none(
      "O1 calls repeated more often than their run was taken up",
      tooOften.map(([key]) => key),
    ),
    noted("model calls in flight at a kill, made again", repeated.filter(isModel).length),
    noted("tool calls in flight at a kill, made again", repeated.filter((each) => !isModel(each)).length),
  ];
}

/** O2 and O4: each run's entries count from 0 without a gap, are what was sealed, and follow each other. */
export function chainOracle(runs: StoredRuns): OracleResult[] {
  const open = [...runs.values()].filter((entries) => entries.at(-1)?.entry.kind !== "run.settled");
  const roots = [...runs.values()].flatMap(([first]) => {
    const isRoot = first?.entry.kind === "run.opened" && first.entry.request.parent === null;
    return isRoot ? [first.entry.session] : [];
  });
  return [
    none("O1 sessions with more than one first run", repeatedKeys(roots)),
    none(
      "O4 broken chains",
      [...runs.values()].flatMap((entries) => chainProblems(entries)),
    ),
    none(
      "runs without an end",
      open.map((entries) => nameOf(entries.at(-1))),
    ),
  ];
}

function outcomeKeyOf(entry: Entry): string | null {
  const key = entry.kind === "approval.requested" ? null : answeredEffect(entry);
  return key === null ? null : `${entry.run}/${key}`;
}

function unsafeKeyOf(entry: Entry): string | null {
  const isUnsafe = entry.kind === "tool.started" && entry.plan === null;
  return isUnsafe ? `${entry.run}/tool/${entry.step}/${entry.call}` : null;
}

/** How often the run of a call was taken up, its opening included. */
function claimsOf(runs: StoredRuns, key: string): number {
  const entries = runs.get(key.split("/", 1)[0] ?? "") ?? [];
  return entries.filter(({ entry: { kind } }) => kind === "run.opened" || kind === "run.claimed").length;
}

function shown({ pid, key, at }: LedgerCall): string {
  return `${key} by ${pid} at ${new Date(at).toISOString()}`;
}

function nameOf(stored: StoredEntry | undefined): string {
  return stored ? `${stored.entry.session} ${stored.entry.run}#${stored.entry.index} ${stored.entry.kind}` : "empty";
}
