import type { RecordStatus } from "@troupe/core";

const active: ReadonlySet<RecordStatus> = new Set(["pending", "running"]);
const failure: ReadonlySet<RecordStatus> = new Set(["failed", "timeout"]);

/** Whether more is to come. */
export function isActive(row: { status: RecordStatus }): boolean {
  return active.has(row.status);
}

/** What an operator has to look at. A cancel was somebody's wish, so it is none. */
export function isFailure(row: { status: RecordStatus }): boolean {
  return failure.has(row.status);
}

/** The word of a badge: the machine's own where it is finer than the record's. */
export function statusWord(row: { status: RecordStatus; exactStatus?: string }): string {
  return (row.exactStatus || row.status).replaceAll("_", " ");
}

/** Said wherever a demo's rows are shown. */
export const demoLabel = "Demo: scripted, no model was called";
