import type { DefinitionRule, Grammar } from "../syntax/grammar.ts";
import { childrenOf, commentBefore, fieldsOf, type SyntaxNode } from "../syntax/tree-sitter.ts";

const definitions: Record<string, DefinitionRule> = {
  function_declaration: { kind: "function" },
  method_declaration: { kind: "method", owner: receiverOf },
  type_spec: { kind: kindOfType, container: true },
  type_alias: { kind: "type" },
  field_declaration: { kind: "property" },
  method_elem: { kind: "method" },
  const_spec: { kind: "constant" },
  var_spec: { kind: "variable" },
  short_var_declaration: { kind: "variable", names: ["left"], local: true },
  range_clause: { kind: "variable", names: ["left"], local: true },
  parameter_declaration: { kind: "parameter", local: true },
  variadic_parameter_declaration: { kind: "parameter", local: true },
  type_parameter_declaration: { kind: "parameter", local: true },
};

export const go: Grammar = {
  definitions,
  patterns: { expression_list: [] },
  transparent: new Set([
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "var_spec_list",
    "struct_type",
    "field_declaration_list",
    "interface_type",
  ]),
  wrappers: new Set(["type_declaration", "const_declaration", "var_declaration", "var_spec_list"]),
  names: new Set(["identifier", "type_identifier", "field_identifier"]),
  text: new Set(["comment", "interpreted_string_literal", "raw_string_literal", "rune_literal"]),
  imports: new Set(["import_declaration"]),
  importsOf: (node) => importPathsIn(node).map((from) => ({ name: "*", from, line: node.startPosition.row + 1 })),
  exportsOf: () => [],
  isExported: ({ name }, level) => /^\p{Lu}/u.test(name) && level.exported,
  isDocumented: (node, statement) => commentBefore(node) !== null || commentBefore(statement) !== null,
  isProgram: (root) =>
    childrenOf(root).some(
      (child) => child.type === "function_declaration" && child.childForFieldName("name")?.text === "main",
    ),
};

function kindOfType(node: SyntaxNode) {
  const type = node.childForFieldName("type")?.type;
  if (type === "struct_type") return "class";
  return type === "interface_type" ? "interface" : "type";
}

/** The type of a receiver: `Server` for `func (server *Server) Run()`. */
function receiverOf(node: SyntaxNode): string | null {
  const text = node.childForFieldName("receiver")?.text ?? "";
  return /([\p{ID_Start}_][\p{ID_Continue}]*)\s*(?:\[[^\]]*\])?\s*\)$/u.exec(text)?.[1] ?? null;
}

function importPathsIn(node: SyntaxNode): string[] {
  const lists = childrenOf(node).flatMap((child) => (child.type === "import_spec_list" ? childrenOf(child) : [child]));
  return lists.flatMap((spec) => fieldsOf(spec, "path").map(({ text }) => text.slice(1, -1)));
}
