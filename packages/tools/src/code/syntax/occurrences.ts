import type { Grammar, Level } from "./grammar.ts";
import { depthMax, describe, errorLineOf, namesOf, outlineOf } from "./outline.ts";
import type { Definition, Occurrence, Occurrences } from "./queries.ts";
import type { SyntaxNode } from "./tree-sitter.ts";

const occurrencesMax = 1_000;
const lineLengthMax = 160;
/** Finding the ancestors of a node is slow in deep trees. Occurrences after this time are omitted, and `cut` says so. */
const timeoutMs = 3_000;

/**
 * Finds the occurrences of a name and classifies them. It searches the text first, so that the cost depends on the number
 * of occurrences instead of the number of nodes.
 */
export function occurrencesIn(grammar: Grammar, root: SyntaxNode, text: string, name: string): Occurrences {
  const known = new Map(outlineOf(grammar, root).definitions.map(({ start, ...definition }) => [start, definition]));
  const starts = indexesOfWord(text, name);
  const occurrences: Occurrence[] = [];
  const lineAt = createLineCounter(text);
  const untilMs = performance.now() + timeoutMs;
  let examined = 0;
  for (const start of starts.slice(0, occurrencesMax)) {
    if (performance.now() > untilMs) break;
    examined += 1;
    const node = root.descendantForIndex(start, start + name.length);
    // `#close` is not the name `close`.
    if (node?.type.endsWith("identifier") && node.text !== name) continue;
    const found = node ? classify(grammar, node, known.get(start) ?? null) : plainReference;
    occurrences.push({ line: lineAt(start), text: excerptAt(text, start), ...found });
  }
  const canRepeat = Object.values(grammar.definitions).some((rule) => rule.repeats);
  return {
    occurrences: canRepeat ? firstDefinitionsOnly(occurrences) : occurrences,
    cut: starts.length > examined,
    errorLine: errorLineOf(root),
  };
}

type Classification = Pick<Occurrence, "use" | "definition" | "container">;

const plainReference: Classification = { use: "reference", definition: null, container: null };

/** The indexes of a name that are not part of a longer name. */
function indexesOfWord(text: string, name: string): number[] {
  const indexes: number[] = [];
  for (
    let at = text.indexOf(name);
    at >= 0 && indexes.length <= occurrencesMax;
    at = text.indexOf(name, at + name.length)
  ) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\p{ID_Continue}$]$/u.test(before) && !/^[\p{ID_Continue}$]/u.test(after)) indexes.push(at);
  }
  return indexes;
}

function classify(grammar: Grammar, node: SyntaxNode, known: Definition | null): Classification {
  if (known) return { use: "definition", definition: known, container: known.container };
  const ancestors = ancestorsOf(node);
  for (const { type } of [node, ...ancestors]) {
    if (grammar.code?.has(type)) break;
    if (grammar.text.has(type)) return { ...plainReference, use: "text" };
  }
  if (ancestors.some(({ type }) => grammar.imports.has(type))) return { ...plainReference, use: "import" };
  const importing = ancestors.find((ancestor) => grammar.isImport?.(ancestor));
  if (
    importing &&
    namesOf(grammar, importing, { kind: "constant" }).some(({ startIndex }) => startIndex === node.startIndex)
  ) {
    return { ...plainReference, use: "import" };
  }
  const definition = localDefinition(grammar, node, ancestors);
  return definition
    ? { use: "definition", definition, container: definition.container }
    : { ...plainReference, container: containerOf(grammar, ancestors) };
}

function ancestorsOf(node: SyntaxNode): SyntaxNode[] {
  const ancestors: SyntaxNode[] = [];
  for (let next = node.parent; next && ancestors.length < depthMax; next = next.parent) ancestors.push(next);
  return ancestors;
}

/** The definition of a local name, which no outline contains. Null for a reference. */
function localDefinition(grammar: Grammar, name: SyntaxNode, ancestors: readonly SyntaxNode[]): Definition | null {
  const at = ancestors.findIndex(({ type }) => grammar.definitions[type]);
  const node = ancestors[at];
  const rule = node && grammar.definitions[node.type];
  if (!node || !rule || rule.namesOnly) return null;
  const kind = typeof rule.kind === "function" ? rule.kind(node, null) : rule.kind;
  const isDefined = namesOf(grammar, node, rule).some(({ startIndex }) => startIndex === name.startIndex);
  if (kind === null || !isDefined) return null;
  const level: Level = { ...localLevel, container: containerOf(grammar, ancestors.slice(at + 1)) };
  return { ...describe(grammar, { node, name }, { kind, level }), exported: false };
}

const localLevel: Level = { container: null, containerType: null, exported: false, within: [], listed: null };

/** The names of the two nearest containers, outermost first. */
function containerOf(grammar: Grammar, ancestors: readonly SyntaxNode[]): string | null {
  const names = ancestors.flatMap((node) => {
    const rule = grammar.definitions[node.type];
    const kind = typeof rule?.kind === "function" ? rule.kind(node, null) : rule?.kind;
    if (!rule || !kind || !containerKinds.has(kind)) return [];
    return namesOf(grammar, node, rule)
      .slice(0, 1)
      .map(({ text }) => text);
  });
  return names.length > 0 ? names.slice(0, 2).reverse().join(".") : null;
}

const containerKinds: ReadonlySet<string> = new Set(["function", "class", "method", "interface", "enum", "module"]);

/** Turns a further assignment of a variable in the same container from a definition into a reference. */
function firstDefinitionsOnly(occurrences: readonly Occurrence[]): Occurrence[] {
  const seen = new Set<string>();
  return occurrences.map((occurrence) => {
    const { definition } = occurrence;
    if (definition?.kind !== "variable" && definition?.kind !== "property") return occurrence;
    const key = String(definition.container);
    if (!seen.has(key)) {
      seen.add(key);
      return occurrence;
    }
    return { ...occurrence, ...plainReference };
  });
}

/** Returns a function that gives the line of an index. The indexes must ascend. */
function createLineCounter(text: string): (at: number) => number {
  let line = 1;
  let next = text.indexOf("\n");
  return (at) => {
    for (; next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line += 1;
    return line;
  };
}

/** The line of an index. Of a long line, the part around the index. */
function excerptAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(start, end < 0 ? text.length : end);
  if (line.length <= lineLengthMax) return line.trim();
  const from = Math.max(0, at - start - lineLengthMax / 2);
  const part = line.slice(from, from + lineLengthMax).trim();
  return `${from > 0 ? "…" : ""}${part}${from + lineLengthMax < line.length ? "…" : ""}`;
}
