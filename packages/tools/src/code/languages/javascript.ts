import type { DefinedName, DefinitionRule, Grammar, Level } from "../syntax/grammar.ts";
import type { DefinitionKind, ExportedName, ImportedName } from "../syntax/queries.ts";
import { childrenOf, fieldsOf, type SyntaxNode } from "../syntax/tree-sitter.ts";

const functionValues = new Set(["arrow_function", "function_expression", "generator_function", "function"]);

const definitions: Record<string, DefinitionRule> = {
  function_declaration: { kind: "function" },
  generator_function_declaration: { kind: "function" },
  function_signature: { kind: "function" },
  function_expression: { kind: "function", local: true },
  class_declaration: { kind: "class", container: true },
  abstract_class_declaration: { kind: "class", container: true },
  class: { kind: "class", local: true },
  method_definition: { kind: "method" },
  method_signature: { kind: "method" },
  abstract_method_signature: { kind: "method" },
  public_field_definition: { kind: "property" },
  field_definition: { kind: "property", names: ["property"] },
  property_signature: { kind: "property" },
  interface_declaration: { kind: "interface", container: true },
  type_alias_declaration: { kind: "type" },
  enum_declaration: { kind: "enum", container: true },
  enum_body: { kind: "member" },
  enum_assignment: { kind: "member" },
  internal_module: { kind: "module", container: true },
  module: { kind: "module", container: true },
  variable_declarator: { kind: kindOfVariable },
  assignment_expression: { kind: kindOfAssignment, names: (node) => assigned(node)?.names ?? [] },
  pair: { kind: kindOfPair, names: ["key"], local: true },
  required_parameter: { kind: "parameter", names: ["pattern"], local: true },
  optional_parameter: { kind: "parameter", names: ["pattern"], local: true },
  formal_parameters: { kind: "parameter", names: childrenOf, local: true },
  arrow_function: { kind: "parameter", names: ["parameter"], local: true },
  type_parameter: { kind: "parameter", local: true },
  catch_clause: { kind: "variable", names: ["parameter"], local: true },
  for_in_statement: {
    kind: (node) => (node.childForFieldName("kind") ? "variable" : null),
    names: ["left"],
    local: true,
  },
};

/** JavaScript and TypeScript with JSX. Node types that a grammar lacks are never found. */
export const javascript: Grammar = {
  definitions,
  patterns: {
    object_pattern: [],
    array_pattern: [],
    rest_pattern: [],
    pair_pattern: ["value"],
    assignment_pattern: ["left"],
    object_assignment_pattern: ["left"],
    nested_identifier: ["property"],
    string: [],
  },
  transparent: new Set([
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "ambient_declaration",
    "expression_statement",
    "statement_block",
    "class_body",
    "interface_body",
    "object_type",
    "enum_body",
    "if_statement",
    "else_clause",
    "try_statement",
  ]),
  wrappers: new Set([
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "ambient_declaration",
    "expression_statement",
  ]),
  names: new Set([
    "identifier",
    "type_identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier_pattern",
    "string_fragment",
  ]),
  text: new Set(["comment", "html_comment", "string", "template_string", "regex", "jsx_text", "statement_identifier"]),
  code: new Set(["template_substitution", "jsx_expression"]),
  imports: new Set(["import_statement", "import_clause", "import_require_clause", "export_clause", "namespace_export"]),
  isImport: (node) =>
    node.type === "variable_declarator" && moduleLoadedBy(node.childForFieldName("value") ?? node) !== null,
  importsOf,
  exportsOf: (root) => childrenOf(root).flatMap(exportsIn),
  isExported,
  isDocumented: (node, statement) => hasDocComment(statement) || (node !== statement && hasDocComment(node)),
  isProgram: (root) => root.firstNamedChild?.type === "hash_bang_line",
};

function kindOfVariable(node: SyntaxNode): DefinitionKind | null {
  const value = node.childForFieldName("value");
  if (value && moduleLoadedBy(value) !== null) return null;
  if (value && functionValues.has(value.type)) return "function";
  if (value?.type === "class") return "class";
  return node.parent?.children[0]?.type === "const" ? "constant" : "variable";
}

/** The module that `require("…")` or `await import("…")` loads. Null for any other value. */
function moduleLoadedBy(value: SyntaxNode): string | null {
  const call = value.type === "await_expression" ? value.firstNamedChild : value;
  if (call?.type !== "call_expression") return null;
  const [name, ...more] = call.childForFieldName("arguments")
    ? childrenOf(call.childForFieldName("arguments") ?? call)
    : [];
  const loader = call.childForFieldName("function")?.text;
  const isLoader = loader === "require" || (loader === "import" && value !== call);
  return isLoader && name?.type === "string" && more.length === 0 ? name.text.slice(1, -1) : null;
}

function kindOfPair(node: SyntaxNode): DefinitionKind | null {
  return functionValues.has(node.childForFieldName("value")?.type ?? "") ? "method" : null;
}

function kindOfAssignment(node: SyntaxNode): DefinitionKind | null {
  const found = assigned(node);
  if (!found) return null;
  const isFunction = functionValues.has(node.childForFieldName("right")?.type ?? "");
  if (found.to === "prototype") return isFunction ? "method" : null;
  return isFunction ? "function" : "constant";
}

/** The names that an assignment adds to `exports` or to a prototype. */
function assigned(node: SyntaxNode): { to: "exports" | "prototype"; names: SyntaxNode[] } | null {
  const left = node.childForFieldName("left");
  if (left?.type !== "member_expression") return null;
  const object = left.childForFieldName("object")?.text ?? "";
  const names = fieldsOf(left, "property");
  if (object === "exports" || object === "module.exports") return { to: "exports", names };
  return object.endsWith(".prototype") ? { to: "prototype", names } : null;
}

function importsOf(node: SyntaxNode): ImportedName[] {
  if (node.type === "variable_declarator") return namesOfLoad(node);
  const from = sourceOf(node) ?? sourceOf(childrenOf(node)[0] ?? node);
  if (from === null) return [];
  const line = node.startPosition.row + 1;
  const names = childrenOf(node).flatMap(namesImported);
  return (names.length > 0 ? names : ["*"]).map((name) => ({ name, from, line }));
}

function namesOfLoad(node: SyntaxNode): ImportedName[] {
  const from = moduleLoadedBy(node.childForFieldName("value") ?? node) ?? "";
  const pattern = node.childForFieldName("name");
  const names = pattern?.type === "object_pattern" ? childrenOf(pattern) : [];
  const imported = names.map((name) => name.childForFieldName("key")?.text ?? name.text);
  return (imported.length > 0 ? imported : ["*"]).map((name) => ({ name, from, line: node.startPosition.row + 1 }));
}

function namesImported(node: SyntaxNode): string[] {
  switch (node.type) {
    case "import_clause":
    case "named_imports":
      return childrenOf(node).flatMap((child) => (child.type === "identifier" ? ["default"] : namesImported(child)));
    case "import_specifier":
      return fieldsOf(node, "name").map(({ text }) => text);
    default:
      return [];
  }
}

function sourceOf(node: SyntaxNode): string | null {
  return node.childForFieldName("source")?.text.slice(1, -1) ?? null;
}

function exportsIn(statement: SyntaxNode): ExportedName[] {
  if (statement.type === "expression_statement") return childrenOf(statement).flatMap(commonExports);
  if (statement.type !== "export_statement") return [];
  const from = sourceOf(statement);
  const listed = childrenOf(statement).flatMap((child): ExportedName[] => {
    if (child.type === "export_clause") return childrenOf(child).flatMap((one) => specifier(one, from));
    if (child.type === "namespace_export") return childrenOf(child).map(({ text }) => ({ name: text, from }));
    // `export default name` and `export = name`.
    return child.type === "identifier" ? [{ name: child.text, from: null }] : [];
  });
  return listed.length === 0 && from !== null ? [{ name: "*", from }] : listed;
}

function specifier(node: SyntaxNode, from: string | null): ExportedName[] {
  const name = node.childForFieldName("name")?.text;
  const alias = node.childForFieldName("alias")?.text;
  if (name === undefined) return [];
  // A name of this file is listed under its local name, which its definition has.
  return [{ name: from === null ? name : (alias ?? name), from }];
}

/** `module.exports = name` and `module.exports = { name, other: name }`. */
function commonExports(node: SyntaxNode): ExportedName[] {
  if (node.type !== "assignment_expression" || node.childForFieldName("left")?.text !== "module.exports") return [];
  const right = node.childForFieldName("right");
  const values =
    right?.type === "object" ? childrenOf(right).map((one) => one.childForFieldName("value") ?? one) : [right];
  return values
    .filter((value) => value?.type === "identifier" || value?.type === "shorthand_property_identifier")
    .map((value) => ({ name: value?.text ?? "", from: null }));
}

function isExported({ node, name }: DefinedName, level: Level): boolean {
  if (node.type === "assignment_expression") return assigned(node)?.to === "exports";
  switch (level.containerType) {
    case null:
      return level.within.includes("export_statement") || (level.listed?.has(name) ?? false) || isGlobal(level);
    case "class_declaration":
    case "abstract_class_declaration":
      return level.exported && !isPrivate(node, name);
    case "internal_module":
      return level.exported && level.within.includes("export_statement");
    default:
      return level.exported;
  }
}

/** True inside `declare global { … }`. */
function isGlobal({ within }: Level): boolean {
  return within.at(-1) === "statement_block" && within.at(-2) === "ambient_declaration";
}

function isPrivate(node: SyntaxNode, name: string): boolean {
  const modifier = childrenOf(node).find(({ type }) => type === "accessibility_modifier")?.text;
  return name.startsWith("#") || modifier === "private" || modifier === "protected";
}

/** True for a doc comment directly before the node, or before its decorators. */
function hasDocComment(node: SyntaxNode): boolean {
  let before = node.previousNamedSibling;
  while (before?.type === "decorator") before = before.previousNamedSibling;
  return before?.type === "comment" && /^\/\*\*[\s\S]*\p{L}/u.test(before.text);
}
