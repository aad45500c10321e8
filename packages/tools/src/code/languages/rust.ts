import type { DefinedName, DefinitionRule, Grammar, Level } from "../syntax/grammar.ts";
import type { DefinitionKind } from "../syntax/queries.ts";
import { childrenOf, commentBefore, type SyntaxNode } from "../syntax/tree-sitter.ts";

const definitions: Record<string, DefinitionRule> = {
  function_item: { kind: kindOfFunction },
  function_signature_item: { kind: kindOfFunction },
  struct_item: { kind: "class", container: true },
  union_item: { kind: "class", container: true },
  enum_item: { kind: "enum", container: true },
  enum_variant: { kind: "member" },
  trait_item: { kind: "interface", container: true },
  impl_item: { kind: "module", names: ["type"], container: true, namesOnly: true },
  mod_item: { kind: "module", container: true },
  field_declaration: { kind: "property" },
  const_item: { kind: "constant" },
  static_item: { kind: "variable" },
  type_item: { kind: "type" },
  associated_type: { kind: "type" },
  macro_definition: { kind: "function" },
  let_declaration: { kind: "variable", names: ["pattern"], local: true },
  parameter: { kind: "parameter", names: ["pattern"], local: true },
  closure_parameters: { kind: "parameter", names: childrenOf, local: true },
  for_expression: { kind: "variable", names: ["pattern"], local: true },
  type_parameter: { kind: "parameter", local: true },
};

export const rust: Grammar = {
  definitions,
  patterns: {
    tuple_pattern: [],
    slice_pattern: [],
    mut_pattern: [],
    ref_pattern: [],
    reference_pattern: [],
    generic_type: ["type"],
    scoped_type_identifier: ["name"],
  },
  transparent: new Set(["declaration_list", "field_declaration_list", "enum_variant_list"]),
  wrappers: new Set(),
  names: new Set(["identifier", "type_identifier", "field_identifier"]),
  text: new Set(["line_comment", "block_comment", "string_literal", "raw_string_literal", "char_literal"]),
  imports: new Set(["use_declaration"]),
  importsOf: (node) => {
    const path = node.childForFieldName("argument")?.text.replace(/\s+/g, " ") ?? "";
    return [{ name: "*", from: path, line: node.startPosition.row + 1 }];
  },
  exportsOf: () => [],
  isExported,
  isDocumented: (node) => isDocComment(commentBefore(node, attributes)),
  isProgram: (root) =>
    childrenOf(root).some(
      (child) => child.type === "function_item" && child.childForFieldName("name")?.text === "main",
    ),
};

const attributes = new Set(["attribute_item"]);

function kindOfFunction(node: SyntaxNode, level: Level | null): DefinitionKind {
  const around = level ? level.containerType : node.parent?.parent?.type;
  return around === "impl_item" || around === "trait_item" ? "method" : "function";
}

function isExported({ node }: DefinedName, level: Level): boolean {
  if (!level.exported) return false;
  if (node.type === "impl_item" || level.containerType === "trait_item" || node.type === "enum_variant") return true;
  if (node.type === "macro_definition") return false;
  return childrenOf(node).some(({ type }) => type === "visibility_modifier");
}

function isDocComment(comment: SyntaxNode | null): boolean {
  return comment !== null && /^(\/\/\/|\/\*\*)/.test(comment.text);
}
