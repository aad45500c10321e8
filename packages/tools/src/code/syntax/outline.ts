import { depthMax, describe, namesOf } from "./definitions.ts";
import type { Grammar, Level } from "./grammar.ts";
import type { Definition, Outline } from "./queries.ts";
import { childrenOf, type SyntaxNode } from "./tree-sitter.ts";

const definitionsMax = 10_000;

/** A definition, and where in the text its name stands. */
export interface SitedDefinition extends Definition {
  start: number;
}

export interface SitedOutline extends Outline {
  definitions: SitedDefinition[];
}

/** What a file defines at its top and in its classes, what it imports and what it exports. */
export function outlineOf(grammar: Grammar, root: SyntaxNode): SitedOutline {
  const exports = grammar.exportsOf(root);
  const own = exports.filter(({ from }) => from === null);
  const outline: SitedOutline = {
    definitions: [],
    imports: [],
    exports,
    program: grammar.isProgram?.(root) ?? false,
    errorLine: errorLineOf(root),
  };
  const listed = own.length > 0 ? new Set(own.map(({ name }) => name)) : null;
  walk({ grammar, outline, seen: new Set() }, root, {
    container: null,
    containerType: null,
    exported: true,
    within: [],
    listed,
  });
  return outline;
}

interface Walk {
  grammar: Grammar;
  outline: SitedOutline;
  /** Container and name of what may be defined again without being another. */
  seen: Set<string>;
}

function walk(state: Walk, node: SyntaxNode, level: Level, depth = 0): void {
  if (depth > depthMax) return;
  for (const child of childrenOf(node)) {
    if (state.outline.definitions.length >= definitionsMax) return;
    if (state.grammar.imports.has(child.type) || state.grammar.isImport?.(child))
      state.outline.imports.push(...state.grammar.importsOf(child));
    const inner = define(state, child, level);
    if (inner) walk(state, child, inner, depth + 1);
    else if (state.grammar.transparent.has(child.type)) {
      walk(state, child, { ...level, within: [...level.within, child.type] }, depth + 1);
    }
  }
}

/** Adds what a node defines. Gives the level within it, where that has definitions of its own. */
function define({ grammar, outline, seen }: Walk, node: SyntaxNode, level: Level): Level | null {
  const rule = grammar.definitions[node.type];
  if (!rule || rule.local) return null;
  const kind = typeof rule.kind === "function" ? rule.kind(node, level) : rule.kind;
  if (kind === null) return null;
  const definitions = namesOf(grammar, node, rule).map((name) => ({
    ...describe(grammar, { node, name }, { kind, level }),
    start: name.startIndex,
  }));
  for (const definition of rule.namesOnly ? [] : definitions) {
    const key = `${level.container}.${definition.name}`;
    if (rule.repeats && seen.has(key)) continue;
    seen.add(key);
    outline.definitions.push(definition);
  }
  const [first] = definitions;
  if (!rule.container || !first) return null;
  return {
    ...level,
    container: level.container === null ? first.name : `${level.container}.${first.name}`,
    containerType: node.type,
    exported: first.exported,
    within: [],
  };
}

/** The line of the first error, found by going down into what has one. */
export function errorLineOf(root: SyntaxNode): number | null {
  let node = root;
  for (let depth = 0; depth < depthMax && node.hasError && !node.isError; depth++) {
    const next = node.children.find((child) => child?.hasError || child?.isMissing);
    if (!next) break;
    node = next;
  }
  return root.hasError ? node.startPosition.row + 1 : null;
}
