import type { DefinitionKind, ExportedName, ImportedName } from "./queries.ts";
import type { SyntaxNode } from "./tree-sitter.ts";

/** A language as this service reads it: tables of node types, and what tables cannot say. */
export interface Grammar {
  /** The node types that define something. */
  definitions: Readonly<Record<string, DefinitionRule>>;
  /** Between a definition and its names: patterns and lists, with the fields that hold names (`[]`: all children do). */
  patterns: Readonly<Record<string, readonly string[]>>;
  /** What holds further definitions of the same level: bodies, and statements around declarations. */
  transparent: ReadonlySet<string>;
  /** The statement that a definition is a part of: its signature and its comment begin there. */
  wrappers: ReadonlySet<string>;
  /** Types of nodes that are names. */
  names: ReadonlySet<string>;
  /** Strings and comments. */
  text: ReadonlySet<string>;
  /** Code again, within strings. */
  code?: ReadonlySet<string>;
  /** Names within these are imports. */
  imports: ReadonlySet<string>;
  /** Whether a definition is an import after all: `const { a } = require("b")`. */
  isImport?(node: SyntaxNode): boolean;
  /** What a statement imports. */
  importsOf(node: SyntaxNode): ImportedName[];
  /** Lists of exports, wherever in the file they stand at its top. */
  exportsOf(root: SyntaxNode): ExportedName[];
  /** Whether other files can use a definition. */
  isExported(definition: Named, level: Level): boolean;
  /** Whether something is said of it. `statement` is the outermost of its wrappers. */
  isDocumented(node: SyntaxNode, statement: SyntaxNode): boolean;
  /** Whether a file with this is meant to be started. */
  isProgram?(root: SyntaxNode): boolean;
}

export interface DefinitionRule {
  /** Null where this one defines nothing after all. */
  kind: DefinitionKind | ((node: SyntaxNode, level: Level | null) => DefinitionKind | null);
  /** The fields in which its names stand, or how to find them. @default ["name"] */
  names?: readonly string[] | ((node: SyntaxNode) => SyntaxNode[]);
  /** What it belongs to, where it does not stand in it (a method's receiver). */
  owner?: (node: SyntaxNode) => string | null;
  /** Whether its own definitions are a part of the file's outline. */
  container?: boolean;
  /** What is known only in its neighbourhood: no part of the outline. */
  local?: boolean;
  /** Assigned anew it is no other definition. */
  repeats?: boolean;
  /** Gives its name to what stands in it, without defining it (`impl`). */
  namesOnly?: boolean;
}

export interface Named {
  node: SyntaxNode;
  name: string;
}

/** Where a walk through a file stands. */
export interface Level {
  container: string | null;
  /** The type of the node that is the container. */
  containerType: string | null;
  /** Whether the container itself is exported. */
  exported: boolean;
  /** Types of the transparent nodes around, within the container. */
  within: readonly string[];
  /** Names in the file's lists of exports; null where it has no list. */
  listed: ReadonlySet<string> | null;
}
