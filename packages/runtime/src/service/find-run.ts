import type { Entry, RecordReader, RunRequest } from "@troupe/core";
import { openEntry, type RecordStatus, toRecordStatus } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { unknown } from "./unknown.ts";

export interface Sources {
  deps: Pick<HostDeps, "journal">;
  record: Pick<RecordReader, "run" | "approval">;
}

/** How a run stands, as far as wishes about it have to know. */
export interface KnownRun {
  session: string;
  run: string;
  /** Null for a run that no host has opened yet. */
  opened: (Entry & { kind: "run.opened" }) | null;
  status: RecordStatus;
  /** It has ended: nothing about it changes any more. */
  settled: boolean;
}

/**
 * A run by its id alone. The record knows of each, but a moment later than the journal; what the journal says of a run
 * counts. Fails with `UNKNOWN_RUN`.
 */
export async function findRun({ deps, record }: Sources, run: string): Promise<KnownRun> {
  const row = await record.run(run);
  const session = row?.session ?? (await deps.journal.openRuns()).find((open) => open.run === run)?.session;
  if (session === undefined) throw unknown("run", run);
  const known = await readRun(deps, session, run);
  // A child that was planned but never asked has its end in its parent's journal.
  if (known.opened || !row || row.status === "pending") return known;
  return { ...known, status: row.status, settled: row.status !== "running" };
}

/** The same for a run whose session is known. */
export async function readRun(
  { journal }: Pick<HostDeps, "journal">,
  session: string,
  run: string,
): Promise<KnownRun & { request: RunRequest | null }> {
  const texts = await journal.readRun(session, run);
  const [first, last] = [texts[0], texts.at(-1)].map((text) => (text === undefined ? null : openEntry(text)));
  const opened = first?.kind === "run.opened" ? first : null;
  const settled = last?.kind === "run.settled";
  const status = settled ? toRecordStatus(last.response.status) : opened ? "running" : "pending";
  return { session, run, opened, request: opened?.request ?? null, status, settled };
}
