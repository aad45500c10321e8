import { isAbsolute } from "node:path";
import { RunFailure } from "@troupe/core";
import { type GlobMatcher, globMatcher } from "./glob-pattern.ts";

/**
 * The pattern that a model means, relative to the folder that it looks in: one below the workspace's own absolute path
 * is taken for it, one that leads out is refused with a `RunFailure`.
 */
export function pathPattern(pattern: string, workspace: string): string {
  const inside = pattern.startsWith(`${workspace}/`) ? pattern.slice(workspace.length + 1) : pattern;
  const way = inside.startsWith("./") ? inside.slice(2) : inside;
  if (isAbsolute(way) || way.split("/").includes("..")) {
    throw new RunFailure({
      type: "permission",
      message: `${JSON.stringify(pattern.slice(0, 100))} leads out of the workspace: a pattern is relative to it, without ..`,
      recoverable: false,
    });
  }
  return way;
}

/** A matcher of whole paths for a pattern that is about what is below a folder (`.` or `./a/b`). */
export function matcherBelow(root: string, pattern: string, options?: { ignoreCase: boolean }): GlobMatcher {
  const matches = globMatcher(pattern, options);
  const prefix = prefixOf(root);
  return (path) => matches(path.startsWith(prefix) ? path.slice(prefix.length) : path);
}

/** What the paths of files in a folder begin with. */
export function prefixOf(root: string): string {
  const folder = root.replace(/^\.\/?/, "");
  return folder === "" ? "" : `${folder}/`;
}
