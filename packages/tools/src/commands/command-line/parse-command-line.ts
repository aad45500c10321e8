import type { SimpleCommand } from "@troupe/core/internal";
import { forEachChild, type ParsedScript, parse, type Redirection, type SyntaxNode, type Word } from "unbash";

/**
 * The simple commands of a line for `/bin/sh`, also those in substitutions. Null for a line that cannot be told for
 * sure. The parser is for bash, and `/bin/sh` can be another shell, so constructs that shells read in different ways
 * count as unclear: `a &>b c` runs `c` in dash, and passes it to `a` in bash.
 *
 * @example
 * parseCommandLine("git log | head -5");
 * // the words ["git", "log"] and ["head", "-5"]
 */
export function parseCommandLine(line: string): SimpleCommand[] | null {
  if (hasControlCharacters(line)) return null;
  const found: SimpleCommand[] = [];
  try {
    collectScript(parse(line), found);
  } catch {
    // Unclear, or too deep for the parser.
    return null;
  }
  return found;
}

class UnclearError extends Error {}

/** Nodes that every POSIX shell reads in the same way. */
const clear: ReadonlySet<SyntaxNode["type"]> = new Set<SyntaxNode["type"]>([
  "Statement",
  "AndOr",
  "Subshell",
  "BraceGroup",
  "CompoundList",
  "Negation",
  "Assignment",
  "Word",
  "Literal",
  "SingleQuoted",
  "DoubleQuoted",
  "Glob",
  "SimpleExpansion",
  "FileDescriptor",
]);

const redirects: ReadonlySet<string> = new Set([">", ">>", "<", "<>", "<&", ">&", ">|"]);

function collectScript(script: ParsedScript | undefined, found: SimpleCommand[]): void {
  if (script === undefined || (script.errors?.length ?? 0) > 0) throw new UnclearError();
  for (const statement of script.commands) collect(statement, found);
}

function collect(node: SyntaxNode, found: SimpleCommand[]): void {
  switch (node.type) {
    case "Pipeline":
      if (node.operators.some((operator) => operator !== "|")) throw new UnclearError();
      break;
    case "Command":
      found.push(simpleCommand(node));
      break;
    case "Redirect":
      if (!redirects.has(node.operator) || node.descriptor?.type === "FileDescriptorVariable") throw new UnclearError();
      break;
    case "CommandExpansion":
      collectScript(node.script, found);
      return;
    case "ParameterExpansion":
      if (node.prefix === "!" || node.index || !["Default", "Remove", undefined].includes(node.operation?.type)) {
        throw new UnclearError();
      }
      break;
    case "Default":
    case "Remove":
      break;
    default:
      if (!clear.has(node.type)) throw new UnclearError();
  }
  forEachChild(node, (child) => collect(child, found));
}

type CommandNode = SyntaxNode & { type: "Command" };

function simpleCommand({ name, prefix, args, redirects: all }: CommandNode): SimpleCommand {
  return {
    words: [...(name ? [staticText(name)] : []), ...args.map((arg) => (arg.type === "Word" ? staticText(arg) : null))],
    assigns: prefix.some(({ type }) => type === "Assignment") || name === undefined,
    writes: all.some(writesFile),
  };
}

/** The text of a word; null if it depends on variables, files or other commands. */
function staticText({ value, parts = [] }: Word): string | null {
  const isStatic = parts.every(
    (part) =>
      part.type === "Literal" ||
      part.type === "SingleQuoted" ||
      (part.type === "DoubleQuoted" && part.parts.every(({ type }) => type === "Literal")),
  );
  return isStatic ? value : null;
}

function writesFile(redirection: Redirection): boolean {
  if (redirection.type !== "Redirect") return false;
  const target = redirection.target ? staticText(redirection.target) : null;
  if (redirection.operator === "<") return false;
  const isDescriptor = redirection.operator === "<&" || redirection.operator === ">&";
  return !(target === "/dev/null" || (isDescriptor && target !== null && /^(\d+|-)$/.test(target)));
}

function hasControlCharacters(line: string): boolean {
  return [...line].some(
    (character) => character !== "\n" && character !== "\t" && (character < " " || character === "\x7f"),
  );
}
