import type { RunRow } from "@troupe/core";
import type { RecordStatus } from "@troupe/core/internal";
import { isActive, statusWord } from "./status.ts";

/**
 * What to say aloud of the runs that ended between two views of a session; `null` for nothing. One by name, several as
 * counts: fifty ends in one second must not be fifty sentences.
 */
export function announce(before: ReadonlyMap<string, RunRow>, after: ReadonlyMap<string, RunRow>): string | null {
  const ended: RunRow[] = [];
  for (const run of after.values()) {
    const known = before.get(run.run);
    if (!isActive(run) && known && isActive(known)) ended.push(run);
  }
  const [first] = ended;
  if (!first) return null;
  if (ended.length === 1) return `${first.agent} ${statusWord(first)}`;
  const counts = new Map<RecordStatus, number>();
  for (const run of ended) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${count === 1 ? "run" : "runs"} ${status}`).join(", ");
}
