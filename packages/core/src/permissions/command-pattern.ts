import { canonicalToolName } from "./tool-names.ts";

/** One command of a command line, such as `git log` in `git log | head`. */
export interface SimpleCommand {
  /** The program and its arguments. Null for a word that depends on variables, files or other commands. */
  words: readonly (string | null)[];
  /** Whether it sets variables: they can change the program's actions. */
  assigns: boolean;
  /** Whether it writes its output to a file. */
  writes: boolean;
}

/** An item of a list of tools that means only some commands of a tool: `shell(git status:*)`. */
export interface CommandPattern {
  tool: string;
  /** The first words of the command; empty for every command. */
  words: readonly string[];
  /** Whether further words may follow. */
  isPrefix: boolean;
}

/** A word that every shell reads as itself. */
const plainWord = /^[\w@%+=:,./-]+$/;

/**
 * Parses an item of a list of tools. Null for an item without parentheses, which means the whole tool. Throws a
 * `SyntaxError` for parentheses that are not a pattern.
 *
 * @example
 * parseCommandPattern("shell(git status:*)"); // the tool shell, the words git and status, and any further words
 * parseCommandPattern("shell(git status)"); // only this command
 * parseCommandPattern("shell"); // null
 */
export function parseCommandPattern(item: string): CommandPattern | null {
  if (!/[()]/.test(item)) return null;
  const [, name = "", inner = ""] = /^([\w-]+)\(([^()]*)\)$/.exec(item) ?? [];
  const [, text = "", end = ""] = /^(.*?)(:\*| \*|)$/.exec(inner.trim()) ?? [];
  const isAny = inner.trim() === "*";
  const words = isAny ? [] : text.split(/\s+/).filter((word) => word !== "");
  if (name === "" || (!isAny && words.length === 0) || words.some((word) => word === "*" || !plainWord.test(word))) {
    throw new SyntaxError(`${item} is not a pattern of commands`);
  }
  const tool = canonicalToolName(name);
  // The git tool has no program among its arguments.
  const full = tool === "git" && words.length > 0 && words[0] !== "git" ? ["git", ...words] : words;
  return { tool, words: full, isPrefix: isAny || end !== "" };
}

/** The tool that an item of a list names, with or without a pattern. An invalid pattern names no tool. */
export function toolOfItem(item: string): string {
  try {
    return parseCommandPattern(item)?.tool ?? item;
  } catch {
    return item;
  }
}

/** The valid patterns among the items of a list that are about this tool. */
export function patternsOf(items: readonly string[], tool: string): CommandPattern[] {
  return items.flatMap((item) => {
    if (toolOfItem(item) === item) return [];
    const pattern = parseCommandPattern(item);
    return pattern?.tool === tool ? [pattern] : [];
  });
}

/**
 * Whether patterns allow every command of a line. A command that sets variables or writes to a file matches none, and so
 * does a line that cannot be told (null).
 */
export function allowsCommands(
  patterns: readonly CommandPattern[],
  commands: readonly SimpleCommand[] | null,
): boolean {
  if (commands === null || commands.length === 0) return false;
  return commands.every(
    (command) => !command.assigns && !command.writes && patterns.some((pattern) => isMatch(pattern, command)),
  );
}

function isMatch({ words: wanted, isPrefix }: CommandPattern, { words }: SimpleCommand): boolean {
  if (typeof words[0] !== "string" || words.length < wanted.length) return false;
  return (isPrefix || words.length === wanted.length) && wanted.every((word, i) => words[i] === word);
}
