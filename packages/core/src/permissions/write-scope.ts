import type { WriteScope } from "../protocol/agent.ts";

const anywhere = "**/";

/**
 * Whether a file of the workspace may be written under a grant's scopes: every one of them has to allow it, and none
 * of them is no restriction.
 *
 * @param path relative to the workspace, with `/`, without `.` and `..`
 * @example
 * mayWrite([["test"], ["test/unit", "docs"]], "test/unit/a.ts"); // true
 * mayWrite([["test"], []], "test/a.ts"); // false: the second layer allows nothing
 */
export function mayWrite(scopes: readonly WriteScope[], path: string): boolean {
  const segments = path.split("/");
  return scopes.every((folders) => folders.some((folder) => isWithin(segments, folder)));
}

/** Whether the path is the folder, or in it. */
function isWithin(segments: readonly string[], folder: string): boolean {
  if (!folder.startsWith(anywhere)) return beginsAt(segments, folder.split("/"), 0);
  const wanted = folder.slice(anywhere.length).split("/");
  return segments.some((_, at) => beginsAt(segments, wanted, at));
}

function beginsAt(segments: readonly string[], wanted: readonly string[], at: number): boolean {
  return wanted.every((segment, i) => segments[at + i] === segment);
}
