import type { ToolContext } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import { changeFiles, clearLeftovers } from "../workspace/change-files.ts";
import { type FileBytes, versionOf } from "../workspace/file-version.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import {
  type FileChangeRequest,
  filePlan,
  findPlaces,
  type PlannedFile,
  readPlace,
  targetOf,
  versionIn,
} from "./file-plan.ts";

/**
 * What became of a call that may have been begun before a kill: null where nothing of its plan was done, else the whole,
 * with the rest of it done now. Throws where a file is neither as it was nor as it was to be. What the killed try has
 * left beside the files is taken away.
 */
export async function finishPlan(
  wishes: readonly FileChangeRequest[],
  plan: readonly FilePlan[],
  context: ToolContext,
): Promise<PlannedFile[] | null> {
  await using places = await findPlaces(wishes, context);
  await clearLeftovers(places.all, context);
  const now = await Promise.all(places.all.map(readPlace));
  const states = places.all.map((place, i) => stateOf(place, now[i] ?? null, plan));
  if (states.every(({ state }) => state === "open")) return null;
  const other = states.find(({ state }) => state === "other");
  if (other) throw inDoubt(other.place.shown, "is neither as it was before it nor as it was to be");

  const files = states.map((found, i): PlannedFile => {
    if (found.state === "done") return doneFile(found);
    const wish = wishes[i] as FileChangeRequest;
    const from = wish.from === undefined ? i : wishes.findIndex(({ path }) => path === wish.from);
    return openFile(found, wish, now[from]?.bytes ?? null);
  });
  const unlike = filePlan(files).find(({ path, after }, i) => plan[i]?.path !== path || plan[i].after !== after);
  if (unlike) throw inDoubt(unlike.path, "cannot be finished as it was begun");
  const targets = files.flatMap((file, i) => (states[i]?.state === "open" ? targetOf(states[i].place, file) : []));
  await changeFiles(targets, context);
  return files;
}

interface FoundFile {
  place: ResolvedPath;
  now: FileBytes | null;
  before: string | null;
  state: "done" | "open" | "other";
}

function stateOf(place: ResolvedPath, now: FileBytes | null, plan: readonly FilePlan[]): FoundFile {
  const announced = plan.find(({ path }) => path === place.real);
  const version = versionIn(now);
  const before = announced?.before ?? null;
  if (!announced) return { place, now, before, state: "other" };
  const state = version === announced.after ? "done" : version === before ? "open" : "other";
  return { place, now, before, state };
}

/** Of what was there before, the version alone is known. */
function doneFile({ place: { shown, real }, now, before }: FoundFile): PlannedFile {
  return { shown, real, before: before === null ? null : { version: before, bytes: null }, after: now, notes: [] };
}

function openFile(
  { place: { shown, real }, now }: FoundFile,
  wish: FileChangeRequest,
  source: Buffer | null,
): PlannedFile {
  const notes: string[] = [];
  const bytes = wish.make(source, shown, notes);
  return { shown, real, before: now, after: bytes && { bytes, version: versionOf(bytes) }, notes };
}

function inDoubt(shown: string, what: string) {
  return failure("tool_error", `this call was interrupted, and ${shown} ${what}; look at it before you go on`);
}
