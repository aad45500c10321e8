import {
  type FileRestorer,
  type Ids,
  type InboxItem,
  type RecordReader,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import {
  NotRestoredError,
  protocolVersion,
  type UndoFile,
  type UndoneFile,
  type UndoOutcome,
  type UndoPlanned,
  UndoRequest,
  type UndoResult,
} from "@troupe/core/internal";
import type { HostDeps } from "../../host/host-deps.ts";
import { findRun } from "../lookup.ts";
import { createSessionLock } from "../session-lock.ts";
import { type PlannedUndo, planUndo } from "./plan-undo.ts";
import type { RecordedChange } from "./recorded-changes.ts";
import { namesWriter, readTarget, redoneChanges, type UndoTarget } from "./undo-target.ts";

export interface UndoOptions {
  deps: Pick<HostDeps, "journal" | "clock" | "logger" | "locality" | "failpoint">;
  ids: Ids;
  record: Pick<RecordReader, "run" | "approval" | "session" | "entries" | "onChange">;
  /** Restores the files. Absent: every undo is refused. */
  restorer?: FileRestorer | undefined;
}

/**
 * Undoes the file changes of runs. The plan is stored in the session's inbox before the first file changes. An undo
 * that was interrupted is finished by another one: files that are restored already count as done.
 *
 * @example
 * const { undo } = createUndo({ deps, ids: systemIds(), record, restorer: createFileRestorer({ blobs }) });
 * await undo(run, UndoRequest.parse({ dryRun: true }));
 */
export function createUndo(options: UndoOptions): Pick<TroupeService, "undo"> {
  const withLock = createSessionLock();
  return {
    async undo(run, given) {
      const request = parseRequest(given);
      const { session } = await findRun(options, run);
      return await withLock(session, () => undoRun(options, run, request));
    },
  };
}

/** The HTTP API checks the request too. */
function parseRequest(given: UndoRequest): UndoRequest {
  const parsed = UndoRequest.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TroupeError("USAGE", `the request to undo is invalid: ${issue?.path.join(".")} ${issue?.message}`);
  }
  if (parsed.data.redo && parsed.data.step !== undefined) {
    throw new TroupeError("USAGE", "an undo is undone as a whole, so redo takes no step", {
      fix: "leave the step out",
    });
  }
  return parsed.data;
}

async function undoRun(options: UndoOptions, run: string, request: UndoRequest): Promise<UndoOutcome> {
  const { restorer } = options;
  if (!restorer) throw new TroupeError("CONFLICT", "this process cannot restore files", { fix: "troupe undo RUN" });
  const target = await readTarget(options, run, request);
  const { session } = target;
  const { plans, redoes } = await planOf(options, restorer, target, request);
  const outcomeOf = (outcome: UndoOutcome["outcome"], undo: string | null, results: readonly UndoResult[] = []) => ({
    ...{ session, run, undo, outcome, workspace: target.workspace, notes: target.notes },
    files: plans.map((plan) => toUndoFile(plan, results)),
  });
  if (request.dryRun) return outcomeOf("planned", null);
  const hasProblem = plans.some(({ action }) => action === "conflict" || action === "unkept");
  if (hasProblem && !request.partial) return outcomeOf("refused", null);
  const todo = plans.filter(({ restoration }) => restoration !== null);
  // Folders of files that the run created and removed itself, or that an interrupted undo deleted.
  const gone = plans.filter(({ action, now }) => action === "none" && now.version === null);
  const emptied = gone.flatMap(({ folders }) => folders);
  if (todo.length === 0) {
    await restorer.removeEmptyFolders(target.workspace, emptied);
    await finishInterrupted(options, { target, plans, results: [] });
    return outcomeOf(hasProblem ? "partial" : "nothing", null);
  }
  const { undo, results } = await carryOut(options, restorer, { target, todo, emptied, request, redoes });
  await finishInterrupted(options, { target, plans, results });
  const isPartial = hasProblem || results.some(({ state }) => state === "left");
  return outcomeOf(isPartial ? "partial" : "done", undo, results);
}

async function planOf(
  { deps }: UndoOptions,
  restorer: FileRestorer,
  target: UndoTarget,
  request: UndoRequest,
): Promise<{ plans: PlannedUndo[]; redoes: UndoPlanned | null }> {
  const { run, workspace, items } = target;
  const redoes = request.redo ? redoneUndo(items, run) : null;
  const all = redoes ? redoneChanges(redoes, items) : target.changes;
  const changes = all.filter(({ path }) => isWanted(path, request.paths));
  if (changes.length === 0) throw nothingToUndo(run, request, all);
  const paths = [...new Set(changes.map(({ path }) => path))];
  const states = await restorer.inspect(workspace, paths).catch((error: unknown) => {
    if (!(error instanceof NotRestoredError)) throw error;
    throw new TroupeError("CONFLICT", `the files of run ${run} cannot be restored: ${error.message}`, {
      fix: "run the command on the machine that has this folder",
    });
  });
  const earlier = items.flatMap((item) => (item.kind === "undo.planned" ? item.files : []));
  deps.logger.info({ session: target.session, run, files: paths.length }, "undo planned");
  const plans = planUndo({
    changes,
    states: new Map(states.map((state) => [state.path, state])),
    earlier,
    writerOf: namesWriter(target.others),
  });
  return { plans, redoes };
}

/** The newest undo of the run that was not undone itself. */
function redoneUndo(items: readonly InboxItem[], run: string): UndoPlanned {
  const undos = items.filter((item) => item.kind === "undo.planned").filter((item) => item.run === run);
  const redone = new Set(undos.map(({ redoes }) => redoes));
  const found = undos.findLast(({ undo, redoes }) => redoes === undefined && !redone.has(undo));
  if (found) return found;
  throw new TroupeError("CONFLICT", `run ${run} has no undo that can be undone`, { fix: `troupe undo ${run}` });
}

function nothingToUndo(run: string, { step, paths }: UndoRequest, all: readonly RecordedChange[]): TroupeError {
  const part = paths ? ` in ${paths.join(", ")}` : step === undefined ? "" : ` in step ${step} or later`;
  const named = [...new Set(all.map(({ path }) => path))].slice(0, 5);
  return new TroupeError("CONFLICT", `run ${run} has recorded no file changes${part}`, {
    fix: named.length > 0 ? `its files: ${named.join(", ")}` : "troupe sessions show SESSION   # lists the changes",
  });
}

function isWanted(path: string, paths: readonly string[] | undefined): boolean {
  if (!paths) return true;
  return paths.map(normalised).some((wanted) => path === wanted || path.startsWith(`${wanted}/`));
}

function normalised(path: string): string {
  return path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}

interface Work {
  target: UndoTarget;
  todo: readonly PlannedUndo[];
  /** Further folders to remove if they are empty. */
  emptied: readonly string[];
  request: UndoRequest;
  redoes: UndoPlanned | null;
}

/** Stores the plan, restores the files, and stores the results. */
async function carryOut(
  { deps, ids }: UndoOptions,
  restorer: FileRestorer,
  { target, todo, emptied, request, redoes }: Work,
): Promise<{ undo: string; results: UndoResult[] }> {
  const { session, run, workspace } = target;
  const undo = ids.next();
  const files = [];
  for (const plan of todo) files.push(await undoneFile(restorer, workspace, plan));
  const head = { v: protocolVersion, session, run, undo } as const;
  await deps.journal.appendInbox({
    ...head,
    ...{ kind: "undo.planned", at: deps.clock.now(), by: request.by, step: request.step ?? null, files },
    ...(redoes ? { redoes: redoes.undo } : {}),
  });
  const results: UndoResult[] = [];
  const restoreAll = async (plans: readonly PlannedUndo[]): Promise<void> => {
    for (const plan of plans) {
      deps.failpoint.at("effect:before", { run, key: `undo/${plan.path}` });
      results.push(await restoreOne(restorer, workspace, plan));
      deps.failpoint.at("effect:after", { run, key: `undo/${plan.path}` });
    }
  };
  // Deletions first: a created file can be in place of a deleted folder, and a created folder in place of a deleted file.
  const deletions = todo.filter(({ restoration }) => restoration?.version === null);
  await restoreAll(deletions);
  const deleted = new Set(results.flatMap(({ path, state }) => (state === "deleted" ? [path] : [])));
  const folders = deletions.filter(({ path }) => deleted.has(path)).flatMap((plan) => plan.folders);
  await restorer.removeEmptyFolders(workspace, [...folders, ...emptied]);
  await restoreAll(todo.filter((plan) => !deletions.includes(plan)));
  await deps.journal.appendInbox({ ...head, kind: "undo.finished", at: deps.clock.now(), files: results });
  const left = results.filter(({ state }) => state === "left").length;
  deps.logger.info({ session, run, undo, files: results.length, left }, "undo finished");
  return { undo, results };
}

/** Ends the earlier undos of the run that a kill interrupted: their remaining files are restored now. */
async function finishInterrupted(
  { deps }: UndoOptions,
  { target, plans, results }: { target: UndoTarget; plans: readonly PlannedUndo[]; results: readonly UndoResult[] },
): Promise<void> {
  const { session, run, items } = target;
  const ended = new Set(items.flatMap((item) => (item.kind === "undo.finished" ? [item.undo] : [])));
  const open = items
    .filter((item) => item.kind === "undo.planned")
    .filter((item) => item.run === run && !ended.has(item.undo));
  if (open.length === 0) return;
  for (const { undo, files } of open) {
    const head = { v: protocolVersion, kind: "undo.finished", at: deps.clock.now(), session, run, undo } as const;
    await deps.journal.appendInbox({ ...head, files: files.map((file) => resultOf(file, plans, results)) });
  }
}

function resultOf(
  { path, after }: UndoneFile,
  plans: readonly PlannedUndo[],
  results: readonly UndoResult[],
): UndoResult {
  const now = results.find((result) => result.path === path);
  if (now) return now;
  const plan = plans.find((one) => one.path === path);
  const isDone = plan?.action === "none" || plan?.now.version === after;
  if (plan && isDone) return { path, state: after === null ? "deleted" : "restored", reason: null };
  return { path, state: "left", reason: plan?.reason ?? "the undo was interrupted" };
}

/** Keeps the current content of a file first, so that the undo can be undone. */
async function undoneFile(
  restorer: FileRestorer,
  workspace: string,
  { path, now, restoration }: PlannedUndo,
): Promise<UndoneFile> {
  const saved = now.version === null ? {} : await restorer.keep(workspace, path, now.version);
  return {
    ...{ path, before: now.version, after: restoration?.version ?? null, ...saved },
    ...(now.type === "executable" || now.type === "link" ? { typeBefore: now.type } : {}),
    ...(now.mode === null ? {} : { modeBefore: now.mode }),
    ...(now.missingFolders > 0 ? { foldersMade: now.missingFolders } : {}),
  };
}

async function restoreOne(
  restorer: FileRestorer,
  workspace: string,
  { path, restoration }: PlannedUndo,
): Promise<UndoResult> {
  try {
    if (restoration) await restorer.restore(workspace, restoration);
    return { path, state: restoration?.version === null ? "deleted" : "restored", reason: null };
  } catch (error) {
    if (error instanceof NotRestoredError) return { path, state: "left", reason: error.message };
    throw error;
  }
}

function toUndoFile({ path, action, reason }: PlannedUndo, results: readonly UndoResult[]): UndoFile {
  const result = results.find((one) => one.path === path);
  if (!result) return { path, action, reason };
  return { path, action, state: result.state, reason: result.reason };
}
