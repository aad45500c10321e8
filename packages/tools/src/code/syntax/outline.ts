import type { DefinitionRule, Grammar, Level } from "./grammar.ts";
import type { Definition, Outline } from "./queries.ts";
import { childrenOf, fieldsOf, type SyntaxNode } from "./tree-sitter.ts";

const definitionsMax = 10_000;
const signatureLengthMax = 160;
/** Only hostile files nest patterns or declarations deeper. */
export const depthMax = 60;

/** A definition and the index of its name in the text. */
export interface LocatedDefinition extends Definition {
  start: number;
}

export interface LocatedOutline extends Outline {
  definitions: LocatedDefinition[];
}

/** The definitions of a file at its top level and in its classes, its imports and its exports. */
export function outlineOf(grammar: Grammar, root: SyntaxNode): LocatedOutline {
  const exports = grammar.exportsOf(root);
  const own = exports.filter(({ from }) => from === null);
  const outline: LocatedOutline = {
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
  outline: LocatedOutline;
  /** Container and name of definitions whose repetition is an assignment. */
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

/** Adds the definitions of a node. Returns the level inside it when it is a container. */
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

/** The line of the first syntax error. It follows the nodes that contain one. */
export function errorLineOf(root: SyntaxNode): number | null {
  let node = root;
  for (let depth = 0; depth < depthMax && node.hasError && !node.isError; depth++) {
    const next = node.children.find((child) => child?.hasError || child?.isMissing);
    if (!next) break;
    node = next;
  }
  return root.hasError ? node.startPosition.row + 1 : null;
}

/** The nodes of all names that a node defines. */
export function namesOf(grammar: Grammar, node: SyntaxNode, rule: DefinitionRule): SyntaxNode[] {
  const { names = ["name"] } = rule;
  const roots = typeof names === "function" ? names(node) : names.flatMap((field) => fieldsOf(node, field));
  return roots.flatMap((root) => namesIn(grammar, root, 0));
}

function namesIn(grammar: Grammar, node: SyntaxNode, depth: number): SyntaxNode[] {
  if (grammar.names.has(node.type)) return [node];
  const fields = grammar.patterns[node.type];
  if (!fields || depth > depthMax) return [];
  const children = fields.length === 0 ? childrenOf(node) : fields.flatMap((field) => fieldsOf(node, field));
  return children.flatMap((child) => namesIn(grammar, child, depth + 1));
}

/** Describes one name that a node defines. */
export function describe(
  grammar: Grammar,
  { node, name }: { node: SyntaxNode; name: SyntaxNode },
  { kind, level }: { kind: Definition["kind"]; level: Level },
): Definition {
  const statement = statementOf(grammar, node);
  return {
    name: name.text,
    kind,
    line: name.startPosition.row + 1,
    endLine: (kind === "member" ? name : node).endPosition.row + 1,
    exported: grammar.isExported({ node, name: name.text }, level),
    documented: grammar.isDocumented(node, statement),
    signature: kind === "member" ? name.text : signatureOf(node, statement),
    container: grammar.definitions[node.type]?.owner?.(node) ?? level.container,
  };
}

/** The outermost node of the same statement. */
function statementOf(grammar: Grammar, node: SyntaxNode): SyntaxNode {
  let statement = node;
  for (let depth = 0; depth < depthMax; depth++) {
    const around = statement.parent;
    if (!around || !grammar.wrappers.has(around.type)) break;
    statement = around;
  }
  return statement;
}

/** The text from the end of the decorators to the start of the body. */
function signatureOf(node: SyntaxNode, statement: SyntaxNode): string {
  const decorators = [...childrenOf(statement), ...(statement === node ? [] : childrenOf(node))]
    .filter(({ type }) => type === "decorator")
    .map(({ endIndex }) => endIndex);
  const start = Math.max(isOnlyOne(node, statement) ? statement.startIndex : node.startIndex, ...decorators);
  const body = bodyOf(node);
  const end = body && body.startIndex > start ? body.startIndex : Math.max(node.endIndex, start);
  return toSignature(statement.text.slice(start - statement.startIndex, end - statement.startIndex));
}

/** True for the only definition of its statement: `const a = 1`, not `const a = 1, b = 2`. */
function isOnlyOne(node: SyntaxNode, statement: SyntaxNode): boolean {
  if (node === statement) return true;
  return node.previousNamedSibling?.type !== node.type && node.nextNamedSibling?.type !== node.type;
}

function bodyOf(node: SyntaxNode): SyntaxNode | null {
  const own = node.childForFieldName("body");
  if (own) return own;
  const value = node.childForFieldName("value") ?? node.childForFieldName("right");
  return value?.childForFieldName("body") ?? node.childForFieldName("type")?.childForFieldName("body") ?? null;
}

/** Puts a signature on one line, without the `=>`, `{` or `:` before the body. */
function toSignature(text: string): string {
  const line = text.slice(0, 2_000).replace(/\s+/g, " ").replace(/\( /g, "(").replace(/,? \)/g, ")").trim();
  const bare = line.replace(/\s*(=>|\{|:|=|;|,)+$/, "");
  return bare.length > signatureLengthMax ? `${bare.slice(0, signatureLengthMax - 1)}…` : bare;
}
