import { WriteScope } from "@troupe/core/internal";

/**
 * The folder that a path pattern of Claude Code means, as a write scope; null for a pattern that no scope can express. The
 * folder never has more files than the pattern.
 *
 * @example
 * folderOfPattern("./src/**"); // "src"
 * folderOfPattern("**\/test/**"); // "**\/test"
 * folderOfPattern("src/*.ts"); // null: a scope has no part of a folder
 */
export function folderOfPattern(pattern: string): string | null {
  // `//` starts an absolute path, `~` the home.
  if (/^(\/\/|~)/.test(pattern)) return null;
  const folder = pattern
    .replace(/^(\.\/|\/)/, "")
    .replace(/\/\*\*$/, "")
    .replace(/\/$/, "");
  return WriteScope.safeParse([folder]).success ? folder : null;
}
