import { joinFolder, singleText } from "./evaluate-line.ts";
import type { EffectScope, FileClass } from "./file-target.ts";
import type { ShellFields } from "./shell-fields.ts";

/** Options of git itself whose value is the next argument. */
const valued: ReadonlySet<string> = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]);

/** Files that a command of git deletes or overwrites, and that are not in a commit. */
export function gitEffects(scope: EffectScope): void {
  const found = subcommandOf(scope);
  if (found === null) {
    scope.add({ folders: null, field: null, reach: "tree" });
    return;
  }
  const { name, args, folders } = found;
  const add: EffectScope["add"] = (target) => scope.add({ folders, ...target });
  subcommands.get(name)?.({ ...scope, folders, add, args }, optionsOf(args));
}

/** The subcommand behind the options of git itself. Null if it can be any. */
function subcommandOf({ args, folders: start }: EffectScope) {
  let folders = start;
  for (let at = 0; at < args.length; at += 1) {
    const text = singleText(args[at] ?? null);
    if (text === null) return null;
    if (!text.startsWith("-")) return { name: text, args: args.slice(at + 1), folders };
    const value = singleText(args[at + 1] ?? null);
    if (canMeanAny(text, value)) return null;
    if (text === "-C") folders = value === null ? null : (folders?.map((each) => joinFolder(each, value)) ?? null);
    if (valued.has(text)) at += 1;
  }
  return { name: "", args: [], folders };
}

/** An alias can be any command line; another work tree can be any folder. */
function canMeanAny(option: string, value: string | null): boolean {
  return (option === "-c" && (value === null || /^alias\./i.test(value))) || /^--(config-env|work-tree)/.test(option);
}

interface GitArguments {
  options: readonly string[];
  /** Arguments before `--` that are not options. */
  names: readonly ShellFields[];
  /** Arguments after `--`. */
  paths: readonly ShellFields[];
  hasUnknown: boolean;
}

function optionsOf(args: readonly ShellFields[]): GitArguments {
  const dashes = args.findIndex((arg) => singleText(arg) === "--");
  const before = dashes < 0 ? args : args.slice(0, dashes);
  const isOption = (arg: ShellFields): boolean => singleText(arg)?.startsWith("-") ?? false;
  return {
    options: before.filter(isOption).map((arg) => singleText(arg) ?? ""),
    names: before.filter((arg) => !isOption(arg)),
    paths: dashes < 0 ? [] : args.slice(dashes + 1),
    hasUnknown: before.some((arg) => arg === null),
  };
}

/** git accepts prefixes of long options and groups of short ones. */
function has({ options }: GitArguments, short: string, ...long: string[]): boolean {
  return options.some((option) =>
    option.startsWith("--")
      ? option.length > 3 && long.some((each) => `--${each}`.startsWith(option.split("=", 1)[0] ?? option))
      : short !== "" && option.slice(1).includes(short),
  );
}

type GitEffects = (scope: EffectScope, args: GitArguments) => void;

const committed: readonly FileClass[] = ["changed"];
const inTheWay: readonly FileClass[] = ["changed", "untracked"];

function addTrees({ add }: EffectScope, paths: readonly ShellFields[], classes?: readonly FileClass[]): void {
  const filter = classes ? { classes } : {};
  for (const path of paths) for (const field of path ?? [null]) add({ field, reach: "tree", ...filter });
}

/** A command that changes all files of the work tree, which can be above the folder. */
const everywhere =
  (classes: readonly FileClass[]): GitEffects =>
  ({ add }) =>
    add({ folders: null, field: null, reach: "tree", classes });

const when =
  (condition: (args: GitArguments) => boolean, effects: GitEffects): GitEffects =>
  (scope, args) => {
    if (condition(args) || args.hasUnknown) effects(scope, args);
  };

/** `git clean`. Without a path it starts in the folder of the command. */
const clean: GitEffects = (scope, args) => {
  if (has(args, "n", "dry-run")) return;
  const classes: FileClass[] = [];
  if (!has(args, "X")) classes.push("untracked");
  if (has(args, "x") || has(args, "X")) classes.push("ignored");
  const paths = [...args.names, ...args.paths];
  addTrees(scope, paths.length > 0 ? paths : [[{ text: ".", isPattern: false }]], classes);
};

const checkout: GitEffects = (scope, args) => {
  const creates = has(args, "b") || has(args, "B", "orphan");
  if (has(args, "f", "force")) everywhere(inTheWay)(scope, args);
  if (creates && args.paths.length === 0) return;
  // A branch leaves changed files alone. A name that is a path brings the file back from git.
  const paths = args.paths.length > 0 ? args.paths : args.names;
  const fromCommit = args.paths.length > 0 ? args.names.length > 0 : args.names.length > 1;
  addTrees(scope, paths, fromCommit ? inTheWay : committed);
};

const restore: GitEffects = (scope, args) => {
  const isIndexOnly = has(args, "S", "staged") && !has(args, "W", "worktree");
  const fromCommit = has(args, "s", "source");
  addTrees(scope, [...args.names, ...args.paths], fromCommit && !isIndexOnly ? inTheWay : committed);
};

const removes: GitEffects = (scope, args) => {
  // Without force, git refuses to delete files that it lacks.
  if (!has(args, "", "cached") && (has(args, "f", "force") || args.hasUnknown)) {
    addTrees(scope, [...args.names, ...args.paths], committed);
  }
};

const worktree: GitEffects = (scope, args) => {
  const [verb, ...paths] = args.names;
  if (singleText(verb ?? null) === "remove") addTrees(scope, [...paths, ...args.paths]);
};

const branch: GitEffects = ({ addGit }, args) => {
  const isForced = has(args, "D") || (has(args, "d", "delete") && has(args, "f", "force"));
  if (!isForced) return;
  for (const name of args.names) addGit({ kind: "branch", name: singleText(name) ?? "" });
};

const stash: GitEffects = ({ addGit }, { names }) => {
  const verb = names[0] === undefined ? "push" : singleText(names[0]);
  if (verb === null || verb === "drop" || verb === "clear") addGit({ kind: "stash" });
};

const aborts = when((args) => has(args, "", "abort", "skip"), everywhere(committed));

/** Subcommands that change the work tree. git itself refuses to lose files with the others. */
const subcommandTable: Readonly<Record<string, GitEffects>> = {
  clean,
  checkout,
  switch: when((args) => has(args, "f", "force", "discard-changes"), everywhere(inTheWay)),
  restore,
  reset: when((args) => has(args, "", "hard", "merge"), everywhere(committed)),
  rm: removes,
  mv: (scope, args) => {
    if (has(args, "f", "force")) addTrees(scope, args.names.slice(-1));
  },
  merge: aborts,
  rebase: aborts,
  "cherry-pick": aborts,
  revert: aborts,
  am: aborts,
  worktree,
  branch,
  stash,
  "checkout-index": when((args) => has(args, "f", "force"), everywhere(committed)),
  "read-tree": when((args) => has(args, "u", "reset"), everywhere(inTheWay)),
  submodule: when((args) => args.names.some((name) => singleText(name) === "deinit"), everywhere(inTheWay)),
};
const subcommands: ReadonlyMap<string, GitEffects> = new Map(Object.entries(subcommandTable));
