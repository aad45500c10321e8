import type { LedgerCall } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { readJournalStream, type StoredEntry } from "./journal-stream.ts";
import type { MemberProcess } from "./member.ts";
import { none, type OracleResult } from "./oracle-result.ts";
import type { StoredRuns } from "./oracles.ts";
import { isBy } from "./takeovers.ts";

/** The oracle reports a takeover that does not come in this time. */
const takeoverMs = 90_000;
/** Between two looks at the whole journal. */
const askAgainMs = 150;

/**
 * Runs that others took over from a living process: the process must write and begin nothing in them afterwards.
 *
 * @param stops how often it was stopped: between the last look at its lease and the call lies a moment, and a stop there
 * lets that one call go out
 */
export function fencingOracle(
  journal: StoredRuns,
  calls: readonly LedgerCall[],
  memberProcess: MemberProcess,
  stops = 0,
): OracleResult[] {
  const lostAt = new Map<string, number>();
  const written: string[] = [];
  for (const [run, entries] of journal) {
    const claim = claimAfter(memberProcess, entries);
    const claimed = entries[claim];
    if (!claimed) continue;
    lostAt.set(run, claimed.storedAt);
    const late = entries
      .slice(claim)
      .filter((stored) => isBy(memberProcess, stored) && stored.entry.epoch < claimed.entry.epoch);
    written.push(...late.map(({ entry }) => `${run}#${entry.index}`));
  }
  const begun = calls.filter(({ pid, key, at }) => {
    const lost = lostAt.get(key.split("/", 1)[0] ?? "");
    return pid === memberProcess.pid && lost !== undefined && at > lost;
  });
  return [
    { what: "runs that others took over from it", value: lostAt.size, wanted: "≥ 1", ok: lostAt.size > 0 },
    none("entries that it wrote in them after that", written),
    {
      ...none(
        "calls that it began in them after that",
        begun.map(({ key }) => key),
      ),
      wanted: `≤ ${stops}`,
      ok: begun.length <= stops,
    },
  ];
}

/** Waits until another process has claimed a run of this one. On a busy machine that takes longer than the lease. */
export async function untilTakenOver(natsUrl: string, memberProcess: MemberProcess | null): Promise<void> {
  const endMs = Date.now() + takeoverMs;
  await until(async () => {
    const runs = [...(await readJournalStream(natsUrl)).values()];
    const isTakenOver = memberProcess && runs.some((entries) => claimAfter(memberProcess, entries) >= 0);
    return isTakenOver || Date.now() > endMs;
  }, askAgainMs);
}

/** The first claim by another process after an entry of this one; -1 without one. */
function claimAfter(memberProcess: MemberProcess, entries: readonly StoredEntry[]): number {
  const own = entries.findIndex((stored) => isBy(memberProcess, stored));
  if (own < 0) return -1;
  return entries.findIndex(
    (stored, i) => i > own && stored.entry.kind === "run.claimed" && !isBy(memberProcess, stored),
  );
}
