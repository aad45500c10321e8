import type { RunRow } from "@troupe/core";

/** Ids cut so far that they still differ, and at a dash, so that they can be typed. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const length = [8, 13, 18, 23].find((each) => new Set(ids.map((id) => id.slice(0, each))).size === new Set(ids).size);
  return (id) => id.slice(0, length ?? id.length);
}

/** Of a root the first part is its minute, which it shares with others; of a child all of it is chance. */
export function shortRunId({ run, parentRun }: Pick<RunRow, "run" | "parentRun">): string {
  return run.slice(0, parentRun === null ? 13 : 8);
}
