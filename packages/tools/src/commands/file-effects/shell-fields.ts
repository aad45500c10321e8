import { forEachChild, type SyntaxNode, type Word, type WordPart } from "unbash";

/** One possible value of a word of a command line: a text, or a pattern that the shell expands. */
export interface ShellField {
  /** A pattern has its literal characters escaped with `\`. */
  readonly text: string;
  readonly isPattern: boolean;
}

/** All possible values of a word together. Null: unknown. */
export type ShellFields = readonly ShellField[] | null;

/** The known state of the shell before a command starts. */
export interface ShellState {
  /** The folders in which the shell may be; null: any folder. */
  folders: readonly string[] | null;
  /** Variables that the line sets. */
  variables: Map<string, ShellFields>;
}

/** Evaluates a command substitution. Null: its output is unknown. */
export type SubstitutionOf = (part: WordPart & { type: "CommandExpansion" }) => ShellFields;

const alternativesMax = 64;
/** Any text without a separator, such as a number. */
const anyName: ShellField = { text: "*", isPattern: true };

export const literal = (text: string): ShellField => ({ text, isPattern: false });

/** Escapes the characters that a pattern gives a meaning. */
export const escapePattern = (text: string): string => text.replace(/[*?[\]{}\\!]/g, "\\$&");

/**
 * The possible values of a word. Shells differ, and a variable can have several values, so this is a superset: each value
 * that could occur is in it, or the result is null.
 */
export function fieldsOf(word: Word, state: ShellState, substitutionOf: SubstitutionOf): ShellFields {
  if (word.text.startsWith("~")) return homeFields(word, state);
  if (word.parts === undefined) return [literal(word.value)];
  let found: readonly ShellField[] = [literal("")];
  for (const part of word.parts) {
    const next = partFields(part, state, substitutionOf, word.parts.length === 1);
    if (next === null) return null;
    found = joined(found, next);
    if (found.length > alternativesMax) return null;
  }
  return found;
}

/** The home of commands, which is a new folder for each of them. */
const commandHome = "/run/home";

function homeFields({ value, parts }: Word, { variables }: ShellState): ShellFields {
  const isPlain = parts === undefined || parts.every(({ type }) => type === "Literal");
  return isPlain && /^~(\/|$)/.test(value) && !variables.has("HOME") ? [literal(commandHome + value.slice(1))] : null;
}

/** Each text before with each text after. */
function joined(before: readonly ShellField[], after: readonly ShellField[]): ShellField[] {
  const pattern = ({ text, isPattern }: ShellField): string => (isPattern ? text : escapePattern(text));
  return before.flatMap((left) =>
    after.map((right) =>
      left.isPattern || right.isPattern
        ? { text: pattern(left) + pattern(right), isPattern: true }
        : literal(left.text + right.text),
    ),
  );
}

function partFields(part: WordPart, state: ShellState, substitutionOf: SubstitutionOf, isWhole: boolean): ShellFields {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return [literal(part.value)];
    case "AnsiCQuoted":
      // Shells without this quoting read the `$` as itself.
      return [literal(part.value), literal(`$${part.value}`)];
    case "DoubleQuoted":
    case "LocaleString": {
      let found: ShellFields = [literal("")];
      for (const child of part.parts) {
        const next = partFields(child, state, substitutionOf, false);
        if (next === null || found === null) return null;
        found = joined(found, next);
        if (found.length > alternativesMax) return null;
      }
      return found;
    }
    case "Glob":
      return [{ text: part.kind === "bracket" ? part.text : part.text[0] === "*" ? "*" : "?", isPattern: true }];
    case "ExtendedGlob":
    case "ArithmeticExpansion":
      return [anyName];
    case "SimpleExpansion":
      return split(variableFields(part.text.slice(1), state), isWhole);
    case "ParameterExpansion":
      return split(parameterFields(part, state, substitutionOf), isWhole);
    case "CommandExpansion":
      return substitutionOf(part);
    case "BraceExpansion":
      return braceFields(part.text);
    case "ProcessSubstitution":
      return [literal("/dev/fd/63")];
  }
}

/** A variable outside of quotes becomes several words, and its patterns are expanded. */
function split(fields: ShellFields, isWhole: boolean): ShellFields {
  if (fields === null) return null;
  const parts = fields.flatMap(({ text, isPattern }) => {
    if (isPattern) return [{ text, isPattern }];
    const words = /\s/.test(text) && isWhole ? text.split(/\s+/).filter(Boolean) : [text];
    return words.map((word) =>
      /[*?[]/.test(word) ? { text: word.replace(/[{}!\\]/g, "\\$&"), isPattern: true } : literal(word),
    );
  });
  return parts.length > alternativesMax ? null : parts;
}

/** Variables of every shell whose value is a number. */
const numeric = /^[?#$!]$/;

function variableFields(name: string, { variables, folders }: ShellState): ShellFields {
  if (numeric.test(name)) return [anyName];
  const known = variables.get(name);
  if (known !== undefined) return known;
  if (name === "PWD") return folders === null ? null : folders.map(literal);
  if (name === "HOME") return [literal(commandHome)];
  return name === "TMPDIR" ? [literal("/tmp")] : null;
}

type Parameter = WordPart & { type: "ParameterExpansion" };

function parameterFields(part: Parameter, state: ShellState, substitutionOf: SubstitutionOf): ShellFields {
  const { parameter, prefix, index, operation } = part;
  if (prefix === "#") return [anyName];
  if (prefix !== undefined || index !== undefined) return null;
  const value = variableFields(parameter, state);
  if (operation === undefined) return value;
  if (operation.type !== "Default") return null;
  const other = fieldsOf(operation.operand, state, substitutionOf);
  if (operation.operator.includes("?")) return value;
  return value === null || other === null ? null : [...value, ...other];
}

/** `{a,b}` as shells with braces expand it, and as itself for shells without. */
function braceFields(text: string): ShellFields {
  const inner = text.slice(1, -1);
  if (/[{}$`\\'"]/.test(inner)) return null;
  if (!inner.includes(",")) return [anyName, literal(text)];
  const names = inner.split(",").map((name) => (/[*?[]/.test(name) ? { text: name, isPattern: true } : literal(name)));
  return [...names, literal(text)];
}

/** Calls the function for each substitution in a node, also in those of its words, but not inside of one. */
export function forEachSubstitution(
  node: SyntaxNode,
  visit: (part: WordPart & { type: "CommandExpansion" | "ProcessSubstitution" }) => void,
): void {
  forEachChild(node, (child) => {
    if (child.type === "CommandExpansion" || child.type === "ProcessSubstitution") visit(child);
    else forEachSubstitution(child, visit);
  });
}
