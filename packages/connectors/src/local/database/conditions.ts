import { numbersIn } from "./cursor.ts";
import type { Bound } from "./office-database.ts";
import { positionAt } from "./positions.ts";

/** One condition of SQL, with its values. */
export interface SqlCondition {
  sql: string;
  values: Bound[];
}

/** Conditions on a column with positions: the span of time, and the rows behind the page before, newest first. */
export function spanConditions(
  { since, until, cursor }: { since: string | null; until: string | null; cursor: string | null },
  position: string,
): SqlCondition[] {
  const ends = [
    ...(until === null ? [] : [positionAt(Date.parse(until))]),
    ...(cursor === null ? [] : numbersIn(cursor, 1)),
  ];
  return [
    ...(since === null ? [] : [{ sql: `${position} >= ?`, values: [positionAt(Date.parse(since))] }]),
    ...ends.map((end) => ({ sql: `${position} < ?`, values: [end] })),
  ];
}
