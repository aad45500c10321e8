import type { Entry, RecordReader, RunRequest, RunRow } from "@troupe/core";
import { type FileChange, openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../../host/host-deps.ts";

/** A change of a file by a call of a run. */
export interface RecordedChange {
  run: string;
  agent: string;
  step: number;
  tool: string;
  at: number;
  path: string;
  /** Null for a tool that recorded only the name of the file. */
  change: FileChange | null;
}

/** A run of a session, with the part of its journal that an undo needs. */
export interface RunChanges {
  row: RunRow;
  request: RunRequest;
  /** Its changes, oldest first. */
  changes: RecordedChange[];
  /** Calls that were started and have no known outcome, such as "shell in step 3". */
  inDoubt: { step: number; tool: string }[];
  /** Calls that are running, or were when the run was paused or cancelled. */
  running: { step: number; tool: string }[];
  /** The branch of a worktree; null for none. */
  branch: string | null;
}

export interface ChangeSources {
  deps: Pick<HostDeps, "journal">;
  record: Pick<RecordReader, "entries">;
}

/** Reads the changes of a run from its journal, or from the record's copy of a purged one. Null if it never started. */
export async function readRunChanges(sources: ChangeSources, row: RunRow): Promise<RunChanges | null> {
  const entries = (await readTexts(sources, row)).map(openEntry);
  const [opened] = entries;
  if (opened?.kind !== "run.opened") return null;
  const changes = entries.flatMap((entry) => (entry.kind === "tool.finished" ? changesIn(entry, row) : []));
  const finished = entries.filter((entry) => entry.kind === "tool.finished");
  return {
    row,
    request: opened.request,
    changes: inTimeOrder(changes),
    inDoubt: finished.filter(({ outcome }) => outcome.inDoubt).map(({ step, tool }) => ({ step, tool })),
    running: entries.filter((entry) => entry.kind === "tool.started").filter(isRunning(finished)),
    branch: branchIn(entries.at(-1)),
  };
}

const branchPrefix = "branch ";

/** A run in a worktree names its branch among the artifacts of its response. */
function branchIn(last: Entry | undefined): string | null {
  if (last?.kind !== "run.settled") return null;
  const artifact = last.response.artifacts.find(({ name }) => name.startsWith(branchPrefix));
  return artifact?.name.slice(branchPrefix.length) ?? null;
}

const entriesPerPage = 1_000;

async function readTexts({ deps, record }: ChangeSources, { session, run }: RunRow): Promise<string[]> {
  const texts = await deps.journal.readRun(session, run);
  if (texts.length > 0) return texts;
  const all: string[] = [];
  for (;;) {
    const page = await record.entries(run, { from: all.length, limit: entriesPerPage });
    all.push(...page);
    if (page.length < entriesPerPage) return all;
  }
}

type FinishedCall = Extract<Entry, { kind: "tool.finished" }>;
type StartedCall = Extract<Entry, { kind: "tool.started" }>;

function changesIn({ step, tool, at, outcome }: FinishedCall, { run, agent }: RunRow): RecordedChange[] {
  const by = { run, agent, step, tool, at };
  const known = new Set(outcome.changes.map(({ path }) => path));
  const named = [...new Set([...outcome.filesCreated, ...outcome.filesModified])].filter((path) => !known.has(path));
  return [
    ...outcome.changes.map((change) => ({ ...by, path: change.path, change })),
    ...named.map((path) => ({ ...by, path, change: null })),
  ];
}

function isRunning(finished: readonly FinishedCall[]) {
  const keys = new Set(finished.map(({ step, call }) => `${step}/${call}`));
  return ({ step, call }: StartedCall): boolean => !keys.has(`${step}/${call}`);
}

/** A clock that was set back must not reverse the order of the journal. */
function inTimeOrder(changes: readonly RecordedChange[]): RecordedChange[] {
  let latest = 0;
  return changes.map((change) => {
    latest = Math.max(latest, change.at);
    return { ...change, at: latest };
  });
}
