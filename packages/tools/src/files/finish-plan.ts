import type { ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { changeFiles, clearLeftovers } from "../workspace/change-files.ts";
import { type FileBytes, versionOf } from "../workspace/file-version.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import { type StateBefore, stateBefore } from "./content-before.ts";
import {
  type FileChangeRequest,
  filePlan,
  type PlannedFile,
  readResolved,
  resolveFiles,
  targetOf,
  versionIn,
} from "./file-plan.ts";

/**
 * Finishes a call that may have started before a kill. Returns null when none of its plan was carried out. Otherwise it
 * makes the remaining changes and returns all files. Throws when a file has neither its old nor its planned version.
 * It removes temporary files that the killed call left.
 */
export async function finishPlan(
  requests: readonly FileChangeRequest[],
  plan: readonly FilePlan[],
  context: ToolContext,
): Promise<PlannedFile[] | null> {
  await using resolved = await resolveFiles(requests, context);
  await clearLeftovers(resolved.all, context);
  const contents = await Promise.all(resolved.all.map(readResolved));
  const states = resolved.all.map((file, i) => stateOf(file, contents[i] ?? null, plan));
  if (states.every(({ state }) => state === "open")) return null;
  const other = states.find(({ state }) => state === "other");
  if (other) throw inDoubt(other.file.shown, "has neither its old nor its planned content");

  const files = states.map((found, i): PlannedFile => {
    if (found.state === "done") return doneFile(found);
    const request = requests[i] as FileChangeRequest;
    const from = request.from === undefined ? i : requests.findIndex(({ path }) => path === request.from);
    return openFile(found, request, contents[from]?.bytes ?? null);
  });
  const unlike = filePlan(files).find(({ path, after }, i) => plan[i]?.path !== path || plan[i].after !== after);
  if (unlike) throw inDoubt(unlike.path, "cannot be finished as planned");
  const targets = files.flatMap((file, i) => (states[i]?.state === "open" ? targetOf(states[i].file, file) : []));
  await changeFiles(targets, context);
  return files;
}

interface FileState {
  file: ResolvedPath;
  now: FileBytes | null;
  before: string | null;
  /** From the plan: a file that has its planned version is not as it was. */
  planned: StateBefore;
  /** `done`: it has the planned version. `open`: it has the old one. `other`: it has neither. */
  state: "done" | "open" | "other";
}

function stateOf(file: ResolvedPath, now: FileBytes | null, plan: readonly FilePlan[]): FileState {
  const planned = plan.find(({ path }) => path === file.real);
  const version = versionIn(now);
  const before = planned?.before ?? null;
  if (!planned) return { file, now, before, planned: {}, state: "other" };
  const { path: _, before: __, after, ...rest } = planned;
  const state = version === after ? "done" : version === before ? "open" : "other";
  return { file, now, before, planned: rest, state };
}

/** Only the version of the old content is known. */
function doneFile({ file: { shown, real }, now, before, planned }: FileState): PlannedFile {
  const old = before === null ? null : { version: before, bytes: null };
  return { shown, real, before: old, after: now, notes: [], state: planned };
}

function openFile({ file, now }: FileState, request: FileChangeRequest, source: Buffer | null): PlannedFile {
  const { shown, real } = file;
  const notes: string[] = [];
  const bytes = request.make(source, shown, notes);
  const after = bytes && { bytes, version: versionOf(bytes) };
  return { shown, real, before: now, after, notes, state: stateBefore(file) };
}

function inDoubt(shown: string, what: string) {
  return failure("tool_error", `this call was interrupted, and ${shown} ${what}; check it before you continue`);
}
