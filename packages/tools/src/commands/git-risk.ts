import type { Risk } from "@troupe/core";
import { isReadOnly } from "./git-read-only.ts";

/** Subcommands that may run. `high` is always of high risk; otherwise the listed options make the call high risk. */
const subcommands: ReadonlyMap<string, "high" | readonly string[]> = new Map<string, "high" | readonly string[]>([
  ["add", []],
  ["am", []],
  ["apply", ["--unsafe-paths"]],
  ["bisect", ["run"]],
  ["cherry-pick", []],
  ["commit", ["--amend", "--gpg-sign", "-S", "--file", "-F", "--template", "-t", "--pathspec-from-file", "--trailer"]],
  ["init", ["--template", "--separate-git-dir"]],
  ["merge", ["--gpg-sign", "-S", "--file", "-F"]],
  ["mv", ["--force", "-f"]],
  ["notes", ["--file", "-F"]],
  ["restore", ["--pathspec-from-file"]],
  ["revert", ["--gpg-sign", "-S"]],
  ["rm", ["--force", "-f"]],
  ["stash", ["drop", "clear", "--pathspec-from-file"]],
  ["status", []],
  ["switch", ["--discard-changes", "--force", "-f", "--force-create", "-C"]],
  ["branch", ["--delete", "-d", "-D", "--force", "-f", "-M", "-C"]],
  ["checkout", ["--force", "-f", "-B", "--pathspec-from-file"]],
  ["tag", ["--delete", "-d", "--force", "-f", "--sign", "-s", "--local-user", "-u", "--file", "-F"]],
  ["reset", ["--hard", "--merge", "--keep", "--pathspec-from-file"]],
  ...[
    "archive blame bundle cat-file check-ignore checkout-index clean clone config count-objects describe diff fetch filter-branch",
    "for-each-ref format-patch fsck gc grep hash-object log ls-files ls-remote ls-tree maintenance merge-base name-rev prune pull",
    "push range-diff read-tree rebase reflog remote repack replace rev-list rev-parse shortlog show show-ref sparse-checkout",
    "submodule symbolic-ref update-index update-ref whatchanged worktree write-tree",
  ]
    .flatMap((line) => line.split(" "))
    .map((name): [string, "high"] => [name, "high"]),
]);

/** Subcommands that contact other repositories. */
const remotes: readonly string[] = ["clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule", "archive"];

export const usesRemotes = (args: readonly string[]): boolean => remotes.includes(args[0] ?? "");

/** Why a call of git never runs, whatever the user approves; null if it may run. */
export function whyNotRun([name = ""]: readonly string[]): string | null {
  if (name.startsWith("-")) {
    return `the first argument has to be the name of a subcommand, and ${JSON.stringify(name)} is an option of git itself`;
  }
  // Any other name could be an alias of the repository, which may be any command line.
  return subcommands.has(name)
    ? null
    : `${JSON.stringify(name)} is not a subcommand that this tool runs; use shell if you need it`;
}

/**
 * The risk of a call: low for read-only, high for rewriting history, discarding work or contacting other repositories.
 */
export function gitRisk(args: readonly string[]): Risk {
  if (isReadOnly(args)) return "low";
  const [name = "", ...rest] = args;
  const riskyOptions = subcommands.get(name);
  if (riskyOptions === undefined || riskyOptions === "high") return "high";
  const dashes = rest.indexOf("--");
  const before = dashes < 0 ? rest : rest.slice(0, dashes);
  const isRisky = before.some((arg) => riskyOptions.some((option) => couldMean(arg, option)));
  return isRisky || rest.some(pointsOutside) ? "high" : "medium";
}

/**
 * Whether git may read an argument as an option or verb: it accepts prefixes of long options and groups of short ones.
 */
function couldMean(arg: string, option: string): boolean {
  if (!option.startsWith("-")) return arg === option;
  if (option.startsWith("--")) return arg.length > 2 && option.startsWith(arg.split("=", 1)[0] ?? arg);
  return /^-[^-]/.test(arg) && arg.includes(option.slice(1));
}

/** `git init /tmp/x` would make a repository outside the workspace. */
function pointsOutside(arg: string): boolean {
  const value = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1) : arg;
  return value.startsWith("/") || value.split("/").includes("..");
}
