import type { DefinitionKind, ExportedName, ImportedName } from "./queries.ts";
import type { SyntaxNode } from "./tree-sitter.ts";

/** Rules of a language: tables of node types, and functions for rules that a table cannot express. */
export interface Grammar {
  /** The node types that define something. */
  definitions: Readonly<Record<string, DefinitionRule>>;
  /**
   * Patterns and lists between a definition and its names, with the fields that contain names. `[]` means all children.
   */
  patterns: Readonly<Record<string, readonly string[]>>;
  /** Nodes that contain more definitions of the same level: bodies, and statements around declarations. */
  transparent: ReadonlySet<string>;
  /** Statements around a definition. Its signature and its comment start at the statement. */
  wrappers: ReadonlySet<string>;
  /** Node types of names. */
  names: ReadonlySet<string>;
  /** Node types of strings and comments. */
  text: ReadonlySet<string>;
  /** Node types of code inside strings. */
  code?: ReadonlySet<string>;
  /** Node types of imports. Names inside them are imports. */
  imports: ReadonlySet<string>;
  /** True for a definition that is an import: `const { a } = require("b")`. */
  isImport?(node: SyntaxNode): boolean;
  /** The names that a statement imports. */
  importsOf(node: SyntaxNode): ImportedName[];
  /** The names in export lists at the top level of the file. */
  exportsOf(root: SyntaxNode): ExportedName[];
  /** True when other files can use the definition. */
  isExported(definition: DefinedName, level: Level): boolean;
  /** True when the definition has a doc comment. `statement` is its outermost wrapper. */
  isDocumented(node: SyntaxNode, statement: SyntaxNode): boolean;
  /** True for a file that is meant to be started. */
  isProgram?(root: SyntaxNode): boolean;
}

export interface DefinitionRule {
  /** Null for a node that defines nothing. `level` is null when the definition is local. */
  kind: DefinitionKind | ((node: SyntaxNode, level: Level | null) => DefinitionKind | null);
  /** The fields that contain its names, or a function that finds them. @default ["name"] */
  names?: readonly string[] | ((node: SyntaxNode) => SyntaxNode[]);
  /** The name of its container, for a definition outside of it (a method's receiver). */
  owner?: (node: SyntaxNode) => string | null;
  /** True when the definitions inside it are part of the outline. */
  container?: boolean;
  /** True for a local name, which is not part of the outline. */
  local?: boolean;
  /** True when a second assignment is not another definition. */
  repeats?: boolean;
  /** True when it names its content without defining the name (`impl`). */
  namesOnly?: boolean;
}

/** A definition and one of its names. */
export interface DefinedName {
  node: SyntaxNode;
  name: string;
}

/** The position of a walk through a file. */
export interface Level {
  container: string | null;
  /** Node type of the container. */
  containerType: string | null;
  /** True when the container is exported. */
  exported: boolean;
  /** Types of the transparent nodes between the container and this level. */
  within: readonly string[];
  /** Names in the export lists of the file. Null for a file without one. */
  listed: ReadonlySet<string> | null;
}
