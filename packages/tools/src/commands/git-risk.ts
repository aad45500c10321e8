import type { Risk } from "@troupe/core";
import { isReadOnly } from "./git-read-only.ts";

/** What else than looking git is let do here: what is of high risk always, and which options make the rest so. */
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

/** Those that speak to other repositories. */
const remotes: readonly string[] = ["clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule", "archive"];

export const usesRemotes = (args: readonly string[]): boolean => remotes.includes(args[0] ?? "");

/** Why a call of git is not made whatever anybody allows; null where it may be. */
export function whyNotRun([name = ""]: readonly string[]): string | null {
  if (name.startsWith("-")) {
    return `the first argument has to be the name of a subcommand, and ${JSON.stringify(name)} is an option of git itself`;
  }
  // Anything else could be an alias of the repository, which may be any command line.
  return subcommands.has(name)
    ? null
    : `${JSON.stringify(name)} is no subcommand that this tool runs; use shell if you need it`;
}

/** Of a call: low for looking, high for what rewrites history, throws work away or reaches out. */
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

/** Whether git may take an argument for an option or a verb: it takes the beginning of a long one, and short ones in a heap. */
function couldMean(arg: string, option: string): boolean {
  if (!option.startsWith("-")) return arg === option;
  if (option.startsWith("--")) return arg.length > 2 && option.startsWith(arg.split("=", 1)[0] ?? arg);
  return /^-[^-]/.test(arg) && arg.includes(option.slice(1));
}

/** `git init /tmp/x` makes a repository there. */
function pointsOutside(arg: string): boolean {
  const value = arg.startsWith("-") ? arg.slice(arg.indexOf("=") + 1) : arg;
  return value.startsWith("/") || value.split("/").includes("..");
}
