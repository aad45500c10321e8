/**
 * Whether a call of git is read-only: it writes no file, runs no program of the repository, and reads no file outside
 * of it. Unknown options count as not read-only, so the call needs more permission than necessary at worst.
 */
export function isReadOnly(args: readonly string[]): boolean {
  const [name = "", ...rest] = args;
  const found = readOnlyCommands.get(name);
  if (!found) return false;
  const dashes = rest.indexOf("--");
  const before = dashes < 0 ? rest : rest.slice(0, dashes);
  const paths = dashes < 0 ? [] : rest.slice(dashes + 1);
  const options = before.filter((arg) => arg.startsWith("-"));
  const values = before.filter((arg) => !arg.startsWith("-"));
  return (
    options.every((option) => isAllowed(option, found.options)) &&
    [...values, ...paths].every(staysInside) &&
    (found.also?.(before) ?? true)
  );
}

/** Options that prevent read-only calls from running programs of the repository and its submodules. */
export function readOnlyOptions(name: string): readonly string[] {
  if (name === "status") return ["--ignore-submodules=dirty"];
  if (["diff", "log", "show", "whatchanged"].includes(name)) return safeDiffOptions;
  return [];
}

/** Git reads a submodule with the submodule's own configuration, which these options and settings do not control. */
export const safeDiffOptions: readonly string[] = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

interface ReadOnlyCommand {
  /** Exact options. One that ends in `=` takes any value. */
  options: readonly string[];
  also?: (before: readonly string[]) => boolean;
}

const split = (...texts: string[]): string[] => texts.flatMap((text) => text.trim().split(/\s+/));

const revisions = `
  --all --branches --branches= --tags --tags= --remotes --remotes= --since= --until= --after= --before= --author=
  --committer= --grep= -i --max-count= --skip= -n --no-merges --merges --first-parent --reverse --date-order --topo-order
  --author-date-order --left-right --cherry-pick --merge-base --ancestry-path --follow --no-walk --not -E -F`;
const formats = `
  --oneline --format= --pretty --pretty= --date= --abbrev-commit --no-abbrev-commit --abbrev --abbrev= --decorate
  --decorate= --no-decorate --graph --no-color --no-notes --relative-date --parents --children`;
const diffs = `
  -p -u --patch -s --no-patch --stat --stat= --shortstat --numstat --summary --dirstat --name-only --name-status --raw -z
  -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --cached --staged -M -C
  --find-renames --find-renames= --find-copies --no-renames --diff-filter= --minimal --patience --histogram
  --diff-algorithm= --word-diff --word-diff= --color-words --function-context -W --unified= --inter-hunk-context=
  --exit-code --quiet --check --full-index --relative --relative= --no-prefix -R -S -G --pickaxe-regex --no-ext-diff
  --no-textconv --text -a --cc -c -m`;
const lists = `
  --list -l --all -a --remotes -r -v -vv -av -avv --verbose --contains --contains= --no-contains --no-contains= --merged
  --merged= --no-merged --no-merged= --points-at --points-at= --sort= --format= --no-column --no-color -i -n --show-current`;

const readOnlyCommands: ReadonlyMap<string, ReadOnlyCommand> = new Map<string, ReadOnlyCommand>([
  [
    "status",
    {
      options: split(`
        -s -sb --short -b --branch --porcelain --porcelain= --long -u -uno -unormal -uall --untracked-files
        --untracked-files= --ignored --ignored= -z --show-stash --ahead-behind`),
    },
  ],
  ["log", { options: split(revisions, formats, diffs, "-L") }],
  ["whatchanged", { options: split(revisions, formats, diffs) }],
  ["show", { options: split(revisions, formats, diffs) }],
  ["diff", { options: split(diffs, "--merge-base --no-color") }],
  [
    "blame",
    {
      options: split(`
        -L -l -s -e -w -M -C -t -f -n -p --porcelain --line-porcelain --show-email --show-name --show-number --abbrev=
        --date= --reverse --first-parent --since=`),
    },
  ],
  ["shortlog", { options: split(revisions, "-s -n -e -sn -sne -c --summary --numbered --email --group= --format=") }],
  [
    "ls-files",
    {
      options: split(`
        -c -d -m -o -i -s -u -t -v -z --cached --deleted --modified --others --ignored --stage --unmerged
        --exclude-standard --full-name --error-unmatch --deduplicate --eol --directory`),
    },
  ],
  ["ls-tree", { options: split("-r -t -d -l -z --name-only --long --full-name --full-tree --abbrev --abbrev=") }],
  [
    "grep",
    {
      options: split(`
        -n -i -l -L -c -w -v -E -F -G -P -e -o -h -H -z -ni -in --line-number --ignore-case --files-with-matches --name-only
        --count --word-regexp --untracked --cached --heading --break -A -B -C --after-context= --before-context= --context=
        --max-count= -m --and --or --not --all-match --show-function -p -W --no-color --column -q -I`),
    },
  ],
  [
    "describe",
    {
      options: split(`
        --tags --all --always --long --abbrev= --match= --exclude= --contains --exact-match --first-parent --candidates=`),
    },
  ],
  [
    "rev-parse",
    {
      options: split(`
        --verify --quiet -q --short --short= --abbrev-ref --symbolic-full-name --show-toplevel --git-dir --absolute-git-dir
        --is-inside-work-tree --is-bare-repository --show-prefix --show-cdup --all --branches --tags --remotes --not`),
    },
  ],
  [
    "rev-list",
    {
      options: split(
        revisions,
        "--count --objects --parents --format= --pretty= --oneline --abbrev-commit --boundary --cherry-mark",
      ),
    },
  ],
  ["merge-base", { options: split("--all -a --is-ancestor --octopus --independent --fork-point") }],
  ["name-rev", { options: split("--tags --refs= --name-only --always --no-undefined") }],
  ["cat-file", { options: split("-p -t -s -e") }],
  [
    "show-ref",
    {
      options: split(
        "--head --heads --tags --branches --dereference -d --hash -s --hash= --abbrev --abbrev= --verify -q",
      ),
    },
  ],
  [
    "for-each-ref",
    {
      options: split(`
        --count= --sort= --format= --points-at= --merged --merged= --no-merged --no-merged= --contains --contains=
        --no-contains`),
    },
  ],
  ["count-objects", { options: split("-v -H -vH --verbose --human-readable") }],
  ["check-ignore", { options: split("-v -n -q --verbose --non-matching --quiet --no-index") }],
  ["branch", { options: split(lists), also: onlyLists }],
  ["tag", { options: split(lists), also: onlyLists }],
  ["remote", { options: split("-v --verbose"), also: (before) => before.every((arg) => arg.startsWith("-")) }],
  [
    "stash",
    { options: split(diffs, "--oneline --format= --date="), also: ([verb]) => verb === "list" || verb === "show" },
  ],
  [
    "reflog",
    { options: split(formats, "-n"), also: ([verb]) => verb === undefined || verb === "show" || verb.startsWith("-") },
  ],
]);

/** Without a listing option, a name would create a branch or tag. */
function onlyLists(before: readonly string[]): boolean {
  const listOption = /^(--list|-l|--(no-)?contains(=.*)?|--(no-)?merged(=.*)?|--points-at(=.*)?)$/;
  return before.every((arg) => arg.startsWith("-")) || before.some((arg) => listOption.test(arg));
}

function isAllowed(option: string, allowed: readonly string[]): boolean {
  if (/^-[nUMCLABm]?[\d,%]+$/.test(option)) return true;
  const equals = option.startsWith("--") ? option.indexOf("=") : -1;
  return allowed.includes(equals < 0 ? option : option.slice(0, equals + 1));
}

/** Given two paths, git shows files outside of its repository. */
function staysInside(value: string): boolean {
  return !value.startsWith("/") && !value.split("/").includes("..");
}
