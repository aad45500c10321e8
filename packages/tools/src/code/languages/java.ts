import type { DefinedName, DefinitionRule, Grammar, Level } from "../syntax/grammar.ts";
import type { DefinitionKind } from "../syntax/queries.ts";
import { childrenOf, commentBefore, type SyntaxNode } from "../syntax/tree-sitter.ts";

const definitions: Record<string, DefinitionRule> = {
  class_declaration: { kind: "class", container: true },
  record_declaration: { kind: "class", container: true },
  interface_declaration: { kind: "interface", container: true },
  annotation_type_declaration: { kind: "interface", container: true },
  enum_declaration: { kind: "enum", container: true },
  enum_constant: { kind: "member" },
  method_declaration: { kind: "method" },
  annotation_type_element_declaration: { kind: "method" },
  constructor_declaration: { kind: "method" },
  field_declaration: { kind: kindOfField, names: ["declarator"] },
  constant_declaration: { kind: "constant", names: ["declarator"] },
  local_variable_declaration: { kind: "variable", names: ["declarator"], local: true },
  formal_parameter: { kind: "parameter", local: true },
  spread_parameter: { kind: "parameter", names: childrenOf, local: true },
  catch_formal_parameter: { kind: "parameter", local: true },
  enhanced_for_statement: { kind: "variable", local: true },
  inferred_parameters: { kind: "parameter", names: childrenOf, local: true },
};

export const java: Grammar = {
  definitions,
  patterns: { variable_declarator: ["name"] },
  transparent: new Set(["class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"]),
  wrappers: new Set(),
  names: new Set(["identifier"]),
  text: new Set(["line_comment", "block_comment", "string_literal", "character_literal"]),
  imports: new Set(["import_declaration", "package_declaration"]),
  importsOf,
  exportsOf: () => [],
  isExported,
  isDocumented: (node) => commentBefore(node)?.text.startsWith("/**") ?? false,
};

function kindOfField(node: SyntaxNode): DefinitionKind {
  const modifiers = modifiersOf(node);
  return modifiers.has("static") && modifiers.has("final") ? "constant" : "property";
}

function modifiersOf(node: SyntaxNode): Set<string> {
  return new Set(
    childrenOf(node)
      .find(({ type }) => type === "modifiers")
      ?.text.split(/\s+/),
  );
}

/** `import a.b.C` imports `C` from `a.b`. */
function importsOf(node: SyntaxNode) {
  if (node.type !== "import_declaration") return [];
  const [path, asterisk] = childrenOf(node);
  const segments = path?.text.split(".") ?? [];
  const name = asterisk ? "*" : (segments.pop() ?? "*");
  return [{ name, from: segments.join("."), line: node.startPosition.row + 1 }];
}

function isExported({ node }: DefinedName, level: Level): boolean {
  if (!level.exported) return false;
  const implied =
    level.containerType === "interface_declaration" || level.containerType === "annotation_type_declaration";
  return implied || node.type === "enum_constant" || modifiersOf(node).has("public");
}
