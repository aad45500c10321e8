import type { WriteScope } from "../protocol/agent.ts";

const anywhere = "**/";

/**
 * Whether a grant's scopes allow writing a file. Every scope has to allow it; without scopes there is no restriction.
 *
 * @param path relative to the workspace, separated by `/`, without `.` and `..`
 * @example
 * mayWrite([["test"], ["test/unit", "docs"]], "test/unit/a.ts"); // true
 * mayWrite([["test"], []], "test/a.ts"); // false: the second layer allows nothing
 */
export function mayWrite(scopes: readonly WriteScope[], path: string): boolean {
  const segments = path.split("/");
  return scopes.every((folders) => folders.some((folder) => isWithin(segments, folder)));
}

/** Whether the path is the folder or inside it. */
function isWithin(segments: readonly string[], folder: string): boolean {
  if (!folder.startsWith(anywhere)) return beginsAt(segments, folder.split("/"), 0);
  const name = folder.slice(anywhere.length).split("/");
  return segments.some((_, at) => beginsAt(segments, name, at));
}

function beginsAt(segments: readonly string[], folder: readonly string[], at: number): boolean {
  return folder.every((segment, i) => segments[at + i] === segment);
}
