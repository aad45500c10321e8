import type { CommandPattern, SimpleCommand } from "./command-pattern.ts";

/**
 * Whether a pattern could match a command of a line, for denials. In doubt it could: a line that cannot be told (null)
 * could match every pattern.
 *
 * @example
 * couldMatchCommands(patternsOf(["shell(git push:*)"], "shell"), parseCommandLine("cd a && git -C b push")); // true
 */
export function couldMatchCommands(
  patterns: readonly CommandPattern[],
  commands: readonly SimpleCommand[] | null,
): boolean {
  if (patterns.length === 0) return false;
  return commands === null || commands.some(({ words }) => patterns.some((pattern) => couldMatch(pattern, words)));
}

type Words = readonly (string | null)[];

/** Programs that start the program that their arguments name. */
const starters: ReadonlySet<string> = new Set(
  (
    "busybox builtin chroot command doas env exec find ionice nice nohup nsenter parallel script setsid ssh stdbuf strace " +
    "su sudo time timeout unshare watch xargs"
  ).split(" "),
);

const shells: ReadonlySet<string> = new Set(["ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"]);

/** Programs and words of the shell whose arguments can be a program text. */
const evaluators: ReadonlySet<string> = new Set([
  ...shells,
  ...["awk", "eval", "gawk", "lua", "node", "perl", "php", "python", "python3", "ruby", "trap"],
]);

/** Words of the shell that change the meaning of later words. */
const redefining: ReadonlySet<string> = new Set([".", "alias", "hash", "source"]);

/** Programs that add words from their input. */
const readers: ReadonlySet<string> = new Set(["parallel", "xargs"]);

function couldMatch({ words: wanted }: CommandPattern, words: Words): boolean {
  if (wanted.length === 0) return true;
  const [program] = words;
  if (program === undefined) return false;
  if (program === null) return true;
  const name = baseName(program);
  if (redefining.has(name) || (shells.has(name) && readsInput(words))) return true;
  if (!starters.has(name) && !evaluators.has(name)) return beginsWith(wanted, words);
  const parts = words.flatMap((word) => (word === null ? [null] : partsOf(word)));
  const all = readers.has(name) ? [...parts, null] : parts;
  return all.some((_, start) => beginsWith(wanted, all.slice(start)));
}

/** Whether a shell has no script and no text among its arguments. */
function readsInput([, ...rest]: Words): boolean {
  return rest.every((word) => word?.startsWith("-") && !/^-\w*c/.test(word)) || rest.includes("-s");
}

/** The words in a program text. */
function partsOf(text: string): string[] {
  return text.split(/[^\w@%+=:,./-]+/).filter((part) => part !== "");
}

/**
 * Whether the words could begin with the wanted ones. Options before a subcommand can have values, so after an option any
 * later word can be the subcommand: `git -C folder push`.
 */
function beginsWith([program = "", ...wanted]: readonly string[], [first, ...rest]: Words): boolean {
  if (first === null) return true;
  if (first === undefined || baseName(first) !== baseName(program)) return false;
  let found = 0;
  let hasOptions = false;
  for (const word of rest) {
    if (found === wanted.length || word === null) return true;
    if (word === wanted[found]) found += 1;
    else if (word.startsWith("-")) hasOptions = true;
    else if (!hasOptions) return false;
  }
  return found === wanted.length;
}

/** The name of a program without its folder. File systems that ignore case run `RM` as `rm`. */
function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}
