import { depthMax, describe, namesOf } from "./definitions.ts";
import type { Grammar, Level } from "./grammar.ts";
import { errorLineOf, outlineOf } from "./outline.ts";
import type { Definition, Place, Places } from "./queries.ts";
import type { SyntaxNode } from "./tree-sitter.ts";

const placesMax = 1_000;
const lineLengthMax = 160;
/** Deep trees are slow to climb. What is not reached by then is left out, and said to be. */
const climbTimeoutMs = 3_000;

/**
 * Every place where a name stands as a word, and what it is there. Found in the text first, so that a file costs its
 * parsing and its hits, not its size in nodes.
 */
export function placesOf(grammar: Grammar, root: SyntaxNode, text: string, name: string): Places {
  const known = new Map(outlineOf(grammar, root).definitions.map(({ start, ...definition }) => [start, definition]));
  const starts = wordsIn(text, name);
  const found: Place[] = [];
  const lines = createLineCounter(text);
  const untilMs = performance.now() + climbTimeoutMs;
  let looked = 0;
  for (const start of starts.slice(0, placesMax)) {
    if (performance.now() > untilMs) break;
    looked += 1;
    const node = root.descendantForIndex(start, start + name.length);
    // `#close` is another name than `close`.
    if (node?.type.endsWith("identifier") && node.text !== name) continue;
    const what = node ? classify(grammar, node, known.get(start) ?? null) : unknownPlace;
    found.push({ line: lines(start), text: lineAround(text, start), ...what });
  }
  const repeats = Object.values(grammar.definitions).some((rule) => rule.repeats);
  return {
    places: repeats ? withoutRepeats(found) : found,
    cut: starts.length > looked,
    errorLine: errorLineOf(root),
  };
}

type What = Pick<Place, "use" | "definition" | "container">;

const unknownPlace: What = { use: "reference", definition: null, container: null };

/** Where a name stands with no letter of a name before or after it. */
function wordsIn(text: string, name: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(name); at >= 0 && found.length <= placesMax; at = text.indexOf(name, at + name.length)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\p{ID_Continue}$]$/u.test(before) && !/^[\p{ID_Continue}$]/u.test(after)) found.push(at);
  }
  return found;
}

function classify(grammar: Grammar, node: SyntaxNode, known: Definition | null): What {
  if (known) return { use: "definition", definition: known, container: known.container };
  const around = ancestorsOf(node);
  for (const { type } of [node, ...around]) {
    if (grammar.code?.has(type)) break;
    if (grammar.text.has(type)) return { ...unknownPlace, use: "text" };
  }
  if (around.some(({ type }) => grammar.imports.has(type))) return { ...unknownPlace, use: "import" };
  const loading = around.find((one) => grammar.isImport?.(one));
  if (
    loading &&
    namesOf(grammar, loading, { kind: "constant" }).some(({ startIndex }) => startIndex === node.startIndex)
  ) {
    return { ...unknownPlace, use: "import" };
  }
  const definition = localDefinition(grammar, node, around);
  return definition
    ? { use: "definition", definition, container: definition.container }
    : { ...unknownPlace, container: containerOf(grammar, around) };
}

function ancestorsOf(node: SyntaxNode): SyntaxNode[] {
  const around: SyntaxNode[] = [];
  for (let next = node.parent; next && around.length < depthMax; next = next.parent) around.push(next);
  return around;
}

/** What a name that is in no outline defines: something of its neighbourhood. */
function localDefinition(grammar: Grammar, name: SyntaxNode, around: readonly SyntaxNode[]): Definition | null {
  const at = around.findIndex(({ type }) => grammar.definitions[type]);
  const node = around[at];
  const rule = node && grammar.definitions[node.type];
  if (!node || !rule || rule.namesOnly) return null;
  const kind = typeof rule.kind === "function" ? rule.kind(node, null) : rule.kind;
  const isName = namesOf(grammar, node, rule).some(({ startIndex }) => startIndex === name.startIndex);
  if (kind === null || !isName) return null;
  const level: Level = { ...nowhere, container: containerOf(grammar, around.slice(at + 1)) };
  return { ...describe(grammar, { node, name }, { kind, level }), exported: false };
}

const nowhere: Level = { container: null, containerType: null, exported: false, within: [], listed: null };

/** The names of the two nearest definitions around, outermost first. */
function containerOf(grammar: Grammar, around: readonly SyntaxNode[]): string | null {
  const names = around.flatMap((node) => {
    const rule = grammar.definitions[node.type];
    const kind = typeof rule?.kind === "function" ? rule.kind(node, null) : rule?.kind;
    if (!rule || !kind || !holders.has(kind)) return [];
    return namesOf(grammar, node, rule)
      .slice(0, 1)
      .map(({ text }) => text);
  });
  return names.length > 0 ? names.slice(0, 2).reverse().join(".") : null;
}

const holders: ReadonlySet<string> = new Set(["function", "class", "method", "interface", "enum", "module"]);

/** A variable that is assigned again in the same place is used there, not defined. */
function withoutRepeats(places: readonly Place[]): Place[] {
  const seen = new Set<string>();
  return places.map((place) => {
    if (place.definition?.kind !== "variable" && place.definition?.kind !== "property") return place;
    const key = String(place.definition.container);
    if (!seen.has(key)) {
      seen.add(key);
      return place;
    }
    return { ...place, ...unknownPlace };
  });
}

/** The line of one position after the other, in the order of the text. */
function createLineCounter(text: string): (at: number) => number {
  let line = 1;
  let next = text.indexOf("\n");
  return (at) => {
    for (; next >= 0 && next < at; next = text.indexOf("\n", next + 1)) line += 1;
    return line;
  };
}

/** The line that a place is in; of a long one, what is around the place. */
function lineAround(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const line = text.slice(start, end < 0 ? text.length : end);
  if (line.length <= lineLengthMax) return line.trim();
  const from = Math.max(0, at - start - lineLengthMax / 2);
  const part = line.slice(from, from + lineLengthMax).trim();
  return `${from > 0 ? "…" : ""}${part}${from + lineLengthMax < line.length ? "…" : ""}`;
}
