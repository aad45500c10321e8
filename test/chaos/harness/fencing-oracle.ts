import type { LedgerCall } from "../../harness/ledger.ts";
import type { MemberProcess } from "./member.ts";
import { none, type OracleResult } from "./oracle-result.ts";
import type { StoredRuns } from "./oracles.ts";
import { isBy } from "./takeovers.ts";

/**
 * Runs that others took over from a living process: the process must write and begin nothing in them afterwards.
 *
 * @param stops how often it was stopped: between the last look at its lease and the call lies a moment, and a stop there
 * lets that one call go out
 *
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
    const own = entries.findIndex((stored) => isBy(memberProcess, stored));
    const claim = entries.findIndex(
      (stored, i) => i > own && stored.entry.kind === "run.claimed" && !isBy(memberProcess, stored),
    );
    const claimed = own < 0 ? undefined : entries[claim];
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
