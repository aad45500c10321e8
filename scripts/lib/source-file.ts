import { parseSync } from "vite";

/** Everything of a TypeScript file that the rules on names and words look at. */
export interface SourceFile {
  /** Comments; consecutive line comments are one text. */
  comments: SourceText[];
  /** String literals with at least one space, templates, JSX text; operands of `+` are one text. */
  strings: SourceText[];
  names: DeclaredName[];
  types: DeclaredType[];
  /** Relative specifiers of static imports and re-exports. */
  imports: string[];
}

export interface SourceText {
  offset: number;
  /** As long as the source it was taken from, so that offsets fit; quotes, marks and expressions are blanked. */
  text: string;
}

export interface DeclaredName {
  name: string;
  offset: number;
  /** A property or method, or a variable that takes its name from one (`const { undo } = run`). */
  member: boolean;
}

export interface DeclaredType {
  name: string;
  offset: number;
  exported: boolean;
}

interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

interface Comment {
  type: "Line" | "Block";
  value: string;
  start: number;
  end: number;
}

/** Throws on a file that does not parse. */
export function readSourceFile(file: string, text: string): SourceFile {
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const found: SourceFile = { comments: joinComments(comments, text), strings: [], names: [], types: [], imports: [] };
  visit(program as unknown as SyntaxNode, found, text);
  return found;
}

/** Comment marks become spaces, so that every character keeps its place. */
function joinComments(comments: Comment[], text: string): SourceText[] {
  const joined: SourceText[] = [];
  let lastLineEnd = -1;
  for (const { type, value, start, end } of comments) {
    if (/^[\s*]*(?:biome-|@ts-|@vitest)/.test(value)) continue;
    const own = type === "Line" ? `  ${value}` : `  ${value.replace(/(^|\n)([ \t]*)\*/g, "$1$2 ")}  `;
    const previous = joined.at(-1);
    if (type === "Line" && previous && lastLineEnd >= 0 && /^\s*$/.test(text.slice(lastLineEnd, start))) {
      previous.text += text.slice(lastLineEnd, start) + own;
    } else joined.push({ offset: start, text: own });
    lastLineEnd = type === "Line" ? end : -1;
  }
  return joined;
}

function visit(node: SyntaxNode, found: SourceFile, text: string): void {
  collectDeclarations(node, found);
  collectImport(node, found);
  const wholeText = stringOf(node, text);
  if (wholeText?.text.trim().includes(" ")) found.strings.push(wholeText);
  for (const child of childrenOf(node)) {
    // The parts of a text were read with it; only the expressions in between are left.
    if (wholeText && isTextPart(child)) for (const inner of childrenOf(child)) visit(inner, found, text);
    else visit(child, found, text);
  }
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (const key in node) {
    const value = node[key];
    if (Array.isArray(value)) children.push(...value.filter(isNode));
    else if (isNode(value)) children.push(value);
  }
  return children;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function nodesAt(node: SyntaxNode, field: string): SyntaxNode[] {
  const value = node[field];
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

const typeDeclarations = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration", "ClassDeclaration"]);
const members = new Set(["TSPropertySignature", "TSMethodSignature", "PropertyDefinition", "MethodDefinition"]);
/** The field of a node that holds the name or the pattern that it declares. */
const declaringField: Record<string, string> = {
  TSInterfaceDeclaration: "id",
  TSTypeAliasDeclaration: "id",
  ClassDeclaration: "id",
  ClassExpression: "id",
  FunctionDeclaration: "id",
  FunctionExpression: "id",
  TSDeclareFunction: "id",
  TSEnumDeclaration: "id",
  VariableDeclarator: "id",
  ImportNamespaceSpecifier: "local",
  CatchClause: "param",
  TSTypeParameter: "name",
};

function collectDeclarations(node: SyntaxNode, found: SourceFile): void {
  if (typeDeclarations.has(node.type)) for (const id of nodesAt(node, "id")) addType(id, false, found);
  else if (node.type === "ExportNamedDeclaration") markExported(node, found);
  else if (node.type === "ImportSpecifier") bindImport(node, found);
  else if (members.has(node.type) && node.computed !== true) bindMember(node, found);
  const field = declaringField[node.type];
  for (const pattern of [...(field ? nodesAt(node, field) : []), ...nodesAt(node, "params")]) bind(pattern, found);
}

function addType(id: SyntaxNode, exported: boolean, found: SourceFile): void {
  found.types.push({ name: String(id.name), offset: id.start, exported });
}

/** The declaration itself is visited after its `export`: it then finds its name listed already. */
function markExported(node: SyntaxNode, found: SourceFile): void {
  for (const declaration of nodesAt(node, "declaration")) {
    if (!typeDeclarations.has(declaration.type)) continue;
    for (const id of nodesAt(declaration, "id")) addType(id, true, found);
  }
}

function bindMember(node: SyntaxNode, found: SourceFile): void {
  for (const key of nodesAt(node, "key")) {
    if (key.type === "Identifier") found.names.push({ name: String(key.name), offset: key.start, member: true });
  }
}

/** `import { a as b }` declares b; `import { a }` declares nothing new. */
function bindImport(node: SyntaxNode, found: SourceFile): void {
  const [imported] = nodesAt(node, "imported");
  const [local] = nodesAt(node, "local");
  if (local && imported?.name !== local.name) bind(local, found);
}

/** The fields of a pattern that hold the patterns it is made of. */
const innerPatterns: Record<string, string> = {
  ObjectPattern: "properties",
  Property: "value",
  ArrayPattern: "elements",
  AssignmentPattern: "left",
  RestElement: "argument",
  TSParameterProperty: "parameter",
};

/** Adds the names that a pattern declares. */
function bind(pattern: SyntaxNode, found: SourceFile, member = false): void {
  if (pattern.type === "Identifier") found.names.push({ name: String(pattern.name), offset: pattern.start, member });
  const field = innerPatterns[pattern.type];
  if (!field) return;
  const takesItsName = pattern.shorthand === true || pattern.type === "TSParameterProperty";
  const keepsIt = member && pattern.type === "AssignmentPattern";
  for (const inner of nodesAt(pattern, field)) bind(inner, found, takesItsName || keepsIt);
}

function collectImport(node: SyntaxNode, found: SourceFile): void {
  if (!/^(?:ImportDeclaration|Export(?:Named|All)Declaration)$/.test(node.type)) return;
  const [source] = nodesAt(node, "source");
  if (typeof source?.value === "string" && source.value.startsWith(".")) found.imports.push(source.value);
}

function isTextPart(node: SyntaxNode): boolean {
  return (
    (node.type === "Literal" && typeof node.value === "string") ||
    node.type === "TemplateLiteral" ||
    node.type === "TemplateElement" ||
    isConcatenation(node)
  );
}

function isConcatenation(node: SyntaxNode): boolean {
  if (node.type !== "BinaryExpression" || node.operator !== "+") return false;
  return [...nodesAt(node, "left"), ...nodesAt(node, "right")].some(isTextPart);
}

/** The text of a literal, a template, a JSX text or a concatenation; null for other nodes. */
function stringOf(node: SyntaxNode, text: string): SourceText | null {
  if (node.type === "JSXText") return { offset: node.start, text: text.slice(node.start, node.end) };
  if (!isTextPart(node) || node.type === "TemplateElement") return null;
  return { offset: node.start, text: literalParts(node, text) };
}

/** The source of a text with delimiters as spaces and expressions as one word, each character in its place. */
function literalParts(node: SyntaxNode, text: string): string {
  if (node.type === "Literal") return ` ${blankEscapes(text.slice(node.start + 1, node.end - 1))} `;
  const fields = node.type === "TemplateLiteral" ? ["quasis", "expressions"] : ["left", "right"];
  const parts = fields.flatMap((field) => nodesAt(node, field)).sort((a, b) => a.start - b.start);
  let at = node.start;
  let result = "";
  for (const part of parts) {
    result += blank(text.slice(at, part.start), " ") + textPart(part, text);
    at = part.end;
  }
  return result + blank(text.slice(at, node.end), " ");
}

function textPart(part: SyntaxNode, text: string): string {
  const source = text.slice(part.start, part.end);
  if (part.type === "TemplateElement") return blankEscapes(source.replace(/^[`}]|`$/g, " ").replace(/\$\{$/, "  "));
  return isTextPart(part) ? literalParts(part, text) : blank(source, "x");
}

function blank(source: string, by: string): string {
  return source.replace(/[^\n]/g, by);
}

/** An escaped backtick stays one: it is the mark of a code span. */
function blankEscapes(source: string): string {
  return source.replace(/\\`/g, " `").replace(/\\./g, "  ");
}
