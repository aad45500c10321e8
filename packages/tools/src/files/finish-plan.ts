import type { ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { changeFiles, clearLeftovers } from "../workspace/change-files.ts";
import { type FileBytes, versionOf } from "../workspace/file-version.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
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
  /** `done`: it has the planned version. `open`: it has the old one. `other`: it has neither. */
  state: "done" | "open" | "other";
}

function stateOf(file: ResolvedPath, now: FileBytes | null, plan: readonly FilePlan[]): FileState {
  const planned = plan.find(({ path }) => path === file.real);
  const version = versionIn(now);
  const before = planned?.before ?? null;
  if (!planned) return { file, now, before, state: "other" };
  const state = version === planned.after ? "done" : version === before ? "open" : "other";
  return { file, now, before, state };
}

/** Only the version of the old content is known. */
function doneFile({ file: { shown, real }, now, before }: FileState): PlannedFile {
  return { shown, real, before: before === null ? null : { version: before, bytes: null }, after: now, notes: [] };
}

function openFile(
  { file: { shown, real }, now }: FileState,
  request: FileChangeRequest,
  source: Buffer | null,
): PlannedFile {
  const notes: string[] = [];
  const bytes = request.make(source, shown, notes);
  return { shown, real, before: now, after: bytes && { bytes, version: versionOf(bytes) }, notes };
}

function inDoubt(shown: string, what: string) {
  return failure("tool_error", `this call was interrupted, and ${shown} ${what}; check it before you continue`);
}
