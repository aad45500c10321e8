import type { DefinitionRule, Grammar, Level } from "./grammar.ts";
import type { Definition } from "./queries.ts";
import { childrenOf, fieldsOf, type SyntaxNode } from "./tree-sitter.ts";

const signatureLengthMax = 160;
/** Nobody nests patterns or declarations as deep; hostile files do. */
export const depthMax = 60;

/** The nodes of all names that a node defines. */
export function namesOf(grammar: Grammar, node: SyntaxNode, rule: DefinitionRule): SyntaxNode[] {
  const { names = ["name"] } = rule;
  const roots = typeof names === "function" ? names(node) : names.flatMap((field) => fieldsOf(node, field));
  return roots.flatMap((root) => leavesOf(grammar, root, 0));
}

function leavesOf(grammar: Grammar, node: SyntaxNode, depth: number): SyntaxNode[] {
  if (grammar.names.has(node.type)) return [node];
  const fields = grammar.patterns[node.type];
  if (!fields || depth > depthMax) return [];
  const children = fields.length === 0 ? childrenOf(node) : fields.flatMap((field) => fieldsOf(node, field));
  return children.flatMap((child) => leavesOf(grammar, child, depth + 1));
}

/** What is to be told of one name that a node defines. */
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
    endLine: lastLineOf(kind === "member" ? name : node),
    exported: grammar.isExported({ node, name: name.text }, level),
    documented: grammar.isDocumented(node, statement),
    signature: kind === "member" ? name.text : signatureOf(node, statement),
    container: grammar.definitions[node.type]?.owner?.(node) ?? level.container,
  };
}

/** The outermost node that is the same statement. */
function statementOf(grammar: Grammar, node: SyntaxNode): SyntaxNode {
  let statement = node;
  for (let depth = 0; depth < depthMax; depth++) {
    const around = statement.parent;
    if (!around || !grammar.wrappers.has(around.type)) break;
    statement = around;
  }
  return statement;
}

function lastLineOf(node: SyntaxNode): number {
  return node.endPosition.row + 1;
}

/** From where decorators end to where the body begins. */
function signatureOf(node: SyntaxNode, statement: SyntaxNode): string {
  const decorators = [...childrenOf(statement), ...(statement === node ? [] : childrenOf(node))]
    .filter(({ type }) => type === "decorator")
    .map(({ endIndex }) => endIndex);
  const start = Math.max(isAlone(node, statement) ? statement.startIndex : node.startIndex, ...decorators);
  const body = bodyOf(node);
  const end = body && body.startIndex > start ? body.startIndex : Math.max(node.endIndex, start);
  return oneLine(statement.text.slice(start - statement.startIndex, end - statement.startIndex));
}

/** Whether it is the only one of its kind in its statement: `const a = 1`, not `const a = 1, b = 2`. */
function isAlone(node: SyntaxNode, statement: SyntaxNode): boolean {
  if (node === statement) return true;
  return node.previousNamedSibling?.type !== node.type && node.nextNamedSibling?.type !== node.type;
}

function bodyOf(node: SyntaxNode): SyntaxNode | null {
  const own = node.childForFieldName("body");
  if (own) return own;
  const value = node.childForFieldName("value") ?? node.childForFieldName("right");
  return value?.childForFieldName("body") ?? node.childForFieldName("type")?.childForFieldName("body") ?? null;
}

/** The text of a signature, without what leads over to a body. */
function oneLine(text: string): string {
  const line = text.slice(0, 2_000).replace(/\s+/g, " ").replace(/\( /g, "(").replace(/,? \)/g, ")").trim();
  const bare = line.replace(/\s*(=>|\{|:|=|;|,)+$/, "");
  return bare.length > signatureLengthMax ? `${bare.slice(0, signatureLengthMax - 1)}…` : bare;
}
