import type Database from "better-sqlite3";
import type { Stored } from "./rows.ts";

/**
 * The places of queued runs among their siblings, by run. A queue is read once, however many of its rows are asked for:
 * counting for each row anew would be quadratic.
 */
export function createQueuePositions(
  database: Database.Database,
): (rows: readonly Stored[]) => ReadonlyMap<Stored[string], number> {
  const queueOf = database
    .prepare<[Stored[string]], string>(
      "SELECT run_id FROM runs WHERE parent_run = ? AND exact_status = 'queued' ORDER BY seen",
    )
    .pluck();

  return (rows) => {
    const queued = rows.filter((row) => row.exact_status === "queued");
    const parents = new Set(queued.map((row) => row.parent_run ?? null));
    const queues = [...parents].map((parent) => queueOf.all(parent));
    return new Map(queues.flatMap((queue) => queue.map((run, i) => [run, i + 1])));
  };
}
