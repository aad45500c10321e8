import type { DefinedName, DefinitionRule, Grammar, Level } from "../syntax/grammar.ts";
import type { DefinitionKind, ExportedName, ImportedName } from "../syntax/queries.ts";
import { childrenOf, commentBefore, fieldsOf, type SyntaxNode } from "../syntax/tree-sitter.ts";

const definitions: Record<string, DefinitionRule> = {
  function_definition: { kind: kindOfFunction },
  class_definition: { kind: "class", container: true },
  type_alias_statement: { kind: "type", names: (node) => fieldsOf(node, "left").flatMap(childrenOf) },
  assignment: { kind: kindOfAssignment, names: assigned, repeats: true },
  named_expression: { kind: "variable", local: true },
  parameters: { kind: "parameter", names: childrenOf, local: true },
  lambda_parameters: { kind: "parameter", names: childrenOf, local: true },
  for_statement: { kind: "variable", names: ["left"], local: true },
  for_in_clause: { kind: "variable", names: ["left"], local: true },
  as_pattern_target: { kind: "variable", names: childrenOf, local: true },
};

export const python: Grammar = {
  definitions,
  patterns: {
    pattern_list: [],
    tuple_pattern: [],
    list_pattern: [],
    list_splat_pattern: [],
    dictionary_splat_pattern: [],
    default_parameter: ["name"],
    typed_default_parameter: ["name"],
    typed_parameter: [],
  },
  transparent: new Set([
    "decorated_definition",
    "expression_statement",
    "block",
    "if_statement",
    "elif_clause",
    "else_clause",
    "try_statement",
    "except_clause",
    "finally_clause",
    "with_statement",
  ]),
  wrappers: new Set(["decorated_definition", "expression_statement"]),
  names: new Set(["identifier"]),
  text: new Set(["comment", "string"]),
  code: new Set(["interpolation"]),
  imports: new Set(["import_statement", "import_from_statement", "future_import_statement"]),
  importsOf,
  exportsOf: (root) => childrenOf(root).flatMap(listedIn),
  isExported,
  isDocumented: hasDocstring,
  isProgram: (root) => childrenOf(root).some(isMainGuard),
};

function kindOfFunction(node: SyntaxNode, level: Level | null): DefinitionKind {
  if (level) return level.container === null ? "function" : "method";
  const around = node.parent?.type === "decorated_definition" ? node.parent.parent : node.parent;
  return around?.parent?.type === "class_definition" ? "method" : "function";
}

/** Names in capitals are constants by convention. */
function kindOfAssignment(node: SyntaxNode, level: Level | null): DefinitionKind | null {
  const [first] = assigned(node);
  if (!first) return null;
  if (node.childForFieldName("left")?.type === "attribute" || level?.containerType) return "property";
  if (level && node.childForFieldName("right") === null) return "variable";
  return /^[A-Z][A-Z0-9_]*$/.test(first.text) ? "constant" : "variable";
}

/** The names left of `=`. Of attributes only those of `self`. */
function assigned(node: SyntaxNode): SyntaxNode[] {
  const left = node.childForFieldName("left");
  if (left?.type !== "attribute") return left ? [left] : [];
  return left.childForFieldName("object")?.text === "self" ? fieldsOf(left, "attribute") : [];
}

function importsOf(node: SyntaxNode): ImportedName[] {
  const line = node.startPosition.row + 1;
  const modules = fieldsOf(node, "name").map((one) => one.childForFieldName("name")?.text ?? one.text);
  if (node.type === "import_statement") return modules.map((from) => ({ name: "*", from, line }));
  const from = node.childForFieldName("module_name")?.text ?? "__future__";
  return (modules.length > 0 ? modules : ["*"]).map((name) => ({ name, from, line }));
}

/** The names in `__all__`, including those added with `+=`. */
function listedIn(statement: SyntaxNode): ExportedName[] {
  const [assignment] = childrenOf(statement);
  if (statement.type !== "expression_statement" || assignment?.childForFieldName("left")?.text !== "__all__") return [];
  const list = assignment.childForFieldName("right");
  return (list ? childrenOf(list) : [])
    .filter(({ type }) => type === "string")
    .map(({ text }) => ({ name: text.replace(/^\w*["']+|["']+$/g, ""), from: null }));
}

function isExported({ name }: DefinedName, level: Level): boolean {
  if (level.container !== null) return level.exported && (!name.startsWith("_") || name === "__init__");
  return level.listed ? level.listed.has(name) : !name.startsWith("_");
}

/** Checks for a docstring. A definition without a body needs a comment before it. */
function hasDocstring(node: SyntaxNode, statement: SyntaxNode): boolean {
  const body = node.childForFieldName("body");
  if (!body) return commentBefore(statement) !== null;
  const first = childrenOf(body).find(({ type }) => type !== "comment");
  return first?.type === "expression_statement" && first.firstNamedChild?.type === "string";
}

function isMainGuard(statement: SyntaxNode): boolean {
  const condition = statement.type === "if_statement" ? statement.childForFieldName("condition")?.text : undefined;
  return condition?.includes("__name__") === true && condition.includes("__main__");
}
