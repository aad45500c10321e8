import { type InboxItem, type RunRow, TroupeError } from "@troupe/core";
import type { FileVersion, UndoPlanned, UndoRequest } from "@troupe/core/internal";
import { readItems } from "../continue-session.ts";
import { findRun, notFound } from "../lookup.ts";
import { type RecordedChange, type RunChanges, readRunChanges } from "./recorded-changes.ts";
import type { UndoOptions } from "./undo.ts";

/** The changes that an undo of a run concerns. */
export interface UndoTarget {
  session: string;
  run: string;
  workspace: string;
  /** Changes of the run and of the runs below it, oldest first. */
  changes: RecordedChange[];
  /** Changes of the other runs of the session. */
  others: RecordedChange[];
  items: InboxItem[];
  notes: string[];
}

/** Reads the changes of a run. Throws `CONFLICT` if they cannot be undone now or here. */
export async function readTarget(
  options: UndoOptions,
  run: string,
  { step }: Pick<UndoRequest, "step">,
): Promise<UndoTarget> {
  const { session } = await findRun(options, run);
  const row = await recordedRow(options, run);
  const rows = (await options.record.session(session))?.runs ?? [];
  const tree = [row, ...rowsBelow(rows, run)];
  const [own, ...below] = await readAll(options, tree);
  if (!own) throw new TroupeError("CONFLICT", `run ${run} has not started: it changed no files`);
  const inTree = [own, ...below];
  for (const one of inTree) refuseActive(one);
  const { workspace } = own.request;
  refuseOwnFolder(own);
  refuseOtherDisk(options, own);

  const wanted = step === undefined ? inTree : sinceStep(own, below, step);
  const inFolder = wanted.filter(
    ({ request }) => isShared(request.workspace) && request.workspace.path === workspace.path,
  );
  const others = rows.filter((other) => !tree.some((one) => one.run === other.run));
  return {
    ...{ session, run, workspace: workspace.path },
    changes: inOrder(inFolder.flatMap(({ changes }) => changes)),
    others: (await readAll(options, others)).flatMap((other) => other.changes),
    items: await readItems(options.deps, session),
    notes: notesOf(wanted, inFolder),
  };
}

/** Runs of a session whose journals are read at once. */
const readsAtOnce = 20;

async function readAll(options: UndoOptions, rows: readonly RunRow[]): Promise<RunChanges[]> {
  const read: RunChanges[] = [];
  for (let first = 0; first < rows.length; first += readsAtOnce) {
    const batch = rows.slice(first, first + readsAtOnce);
    const all = await Promise.all(batch.map((row) => readRunChanges(options, row)));
    read.push(...all.filter((one) => one !== null));
  }
  return read;
}

const recordWaitMsMax = 5_000;

/**
 * The run's row. The record is slightly behind the journal: without the end of the run, it could lack the last children.
 */
async function recordedRow({ record, deps }: UndoOptions, run: string): Promise<RunRow> {
  const isSettled = (await findRun({ deps, record }, run)).settled;
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = record.onChange(({ runs }) => {
    if (runs.some((row) => row.run === run && row.completedAt !== null)) resolve();
  });
  const timer = setTimeout(resolve, recordWaitMsMax);
  try {
    const row = await record.run(run);
    if (row && (row.completedAt !== null || !isSettled)) return row;
    await promise;
  } finally {
    clearTimeout(timer);
    stop();
  }
  const row = await record.run(run);
  if (row === null) throw notFound("run", run);
  if (row.completedAt !== null) return row;
  throw new TroupeError("CONFLICT", `the record does not have the end of run ${run} yet`, { fix: "try again" });
}

function rowsBelow(rows: readonly RunRow[], run: string): RunRow[] {
  const children = rows.filter(({ parentRun }) => parentRun === run);
  return children.flatMap((child) => [child, ...rowsBelow(rows, child.run)]);
}

/** A run that works could change the files again. A paused run changes nothing once its calls have ended. */
function refuseActive({ row: { run, completedAt, exactStatus, agent }, running }: RunChanges): void {
  if (completedAt !== null) return;
  const isPaused = exactStatus === "paused";
  if (isPaused && running.length === 0) return;
  const [call] = running;
  const what = isPaused ? `is paused, and its call of ${call?.tool} has not ended` : "is still working";
  throw new TroupeError("CONFLICT", `run ${run} of ${agent} ${what}, so its changes cannot be undone now`, {
    fix: isPaused ? "wait for that call, then undo again" : `troupe cancel ${run}   # or: troupe pause ${run}`,
  });
}

type Workspace = RunChanges["request"]["workspace"];

function isShared({ mode = "shared" }: Workspace): boolean {
  return mode === "shared";
}

/** An isolated run and a worktree have changed no file of the user's folder. */
function refuseOwnFolder({ row, request, branch }: RunChanges): void {
  const { mode } = request.workspace;
  if (isShared(request.workspace) && request.workspace.project === undefined) return;
  if (mode === "isolated") {
    throw new TroupeError(
      "CONFLICT",
      `run ${row.run} worked on its own copy of the files: your folder was not changed`,
      {
        fix: `troupe sessions show ${row.session}   # lists its files`,
      },
    );
  }
  const where = branch === null ? "a worktree of its own" : `the branch ${branch}`;
  throw new TroupeError("CONFLICT", `the changes of run ${row.run} are on ${where}: your folder was not changed`, {
    fix: branch === null ? "git branch --list 'troupe/*'" : `git branch -D ${branch}   # deletes its changes`,
  });
}

function refuseOtherDisk({ deps }: UndoOptions, { row, request: { workspace } }: RunChanges): void {
  const { place } = workspace;
  if (place === undefined || deps.locality === undefined || place === deps.locality) return;
  const host = row.host === null ? "" : `, where the host ${row.host} ran`;
  throw new TroupeError(
    "CONFLICT",
    `the files of run ${row.run} are on the disk ${place}${host}; this process works on the disk ${deps.locality}`,
    { fix: `on a machine with that disk: troupe undo ${row.run}` },
  );
}

/** The run from a step on, and the children that it started since, with all runs below them. */
function sinceStep(own: RunChanges, below: readonly RunChanges[], step: number): RunChanges[] {
  const started = below.filter(({ request: { parent } }) => parent?.run === own.row.run && parent.step >= step);
  const ids = new Set(started.map(({ row }) => row.run));
  return [
    {
      ...own,
      changes: own.changes.filter((change) => change.step >= step),
      inDoubt: own.inDoubt.filter((call) => call.step >= step),
      running: own.running.filter((call) => call.step >= step),
    },
    ...below.filter(({ request }) => ids.has(request.run) || request.ancestors.some((ancestor) => ids.has(ancestor))),
  ];
}

/** The order of the changes. Calls of one step run at the same time, so their versions decide. */
function inOrder(changes: readonly RecordedChange[]): RecordedChange[] {
  const sorted = changes.toSorted((a, b) => a.at - b.at);
  const groups = Map.groupBy(sorted, ({ run, step, path }) => `${run}/${step}/${path}`);
  const linked = new Map([...groups].map(([key, group]) => [key, linkedVersions(group)]));
  return sorted.map((change) => linked.get(`${change.run}/${change.step}/${change.path}`)?.shift() ?? change);
}

function linkedVersions(group: readonly RecordedChange[]): RecordedChange[] {
  const left = [...group];
  const linked: RecordedChange[] = [];
  while (left.length > 0) {
    const last = linked.at(-1)?.change;
    const follows = left.findIndex(({ change }) => last !== undefined && change?.before === last?.after);
    const starts = left.findIndex(({ change }) => !left.some((other) => other.change?.after === change?.before));
    linked.push(...left.splice(Math.max(0, follows === -1 ? starts : follows), 1));
  }
  return linked;
}

function notesOf(wanted: readonly RunChanges[], inFolder: readonly RunChanges[]): string[] {
  const elsewhere = wanted.filter((one) => !inFolder.includes(one) && one.changes.length > 0);
  return [
    ...elsewhere.map(({ row, branch }) => {
      const where = branch === null ? "a folder of its own" : `the branch ${branch}`;
      return `run ${row.run} of ${row.agent} worked in ${where}, which is not undone`;
    }),
    // Such a call has no outcome: its host was killed, or it did not end in the moment after it was stopped.
    ...inFolder.flatMap(({ row, inDoubt, running }) =>
      [...inDoubt, ...running].map(
        ({ tool, step }) => `it is unknown what ${tool} changed in step ${step} of ${row.agent}`,
      ),
    ),
  ];
}

/** Names the run of the session that gave a path a version. */
export function namesWriter(others: readonly RecordedChange[]) {
  return (path: string, version: FileVersion): string | null => {
    const found = others.findLast((other) => other.path === path && other.change?.after === version);
    return found ? `${found.agent} (run ${found.run}, step ${found.step})` : null;
  };
}

/** The changes of an undo, which can be undone like those of a run. */
export function redoneChanges(planned: UndoPlanned, items: readonly InboxItem[]): RecordedChange[] {
  const finished = items.find((item) => item.kind === "undo.finished" && item.undo === planned.undo);
  const results = finished?.kind === "undo.finished" ? finished.files : [];
  const left = new Set(results.flatMap(({ path, state }) => (state === "left" ? [path] : [])));
  const by = { run: planned.run, agent: "the undo", step: 0, tool: "undo", at: planned.at };
  return planned.files
    .filter(({ path }) => !left.has(path))
    .map((file) => {
      const kind = file.before === null ? "created" : file.after === null ? "deleted" : "modified";
      // An undo records the exact bits: without any, they were the usual ones.
      const modeBefore = file.modeBefore ?? (file.typeBefore === "executable" ? 0o755 : 0o644);
      const change = { ...file, modeBefore, kind, diff: "", diffRef: null, linesAdded: 0, linesRemoved: 0 } as const;
      return { ...by, path: file.path, change };
    });
}
