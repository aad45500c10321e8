import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The part of tree-sitter's types that troupe uses. The package declares its types under the name of another package. */
export interface SyntaxNode {
  readonly type: string;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly startPosition: { row: number };
  readonly endPosition: { row: number };
  readonly text: string;
  readonly isError: boolean;
  readonly isMissing: boolean;
  readonly hasError: boolean;
  readonly parent: SyntaxNode | null;
  readonly namedChildren: (SyntaxNode | null)[];
  readonly children: (SyntaxNode | null)[];
  readonly previousNamedSibling: SyntaxNode | null;
  readonly nextNamedSibling: SyntaxNode | null;
  readonly firstNamedChild: SyntaxNode | null;
  childForFieldName(field: string): SyntaxNode | null;
  childrenForFieldName(field: string): (SyntaxNode | null)[];
  descendantForIndex(start: number, end: number): SyntaxNode | null;
}

export interface SyntaxTree {
  readonly rootNode: SyntaxNode;
  delete(): void;
}

interface Parser {
  setLanguage(language: LoadedGrammar): void;
  parse(text: string, old: null, options: { progressCallback: () => boolean }): SyntaxTree | null;
  reset(): void;
}

type LoadedGrammar = object;

interface InitOptions {
  locateFile(file: string): string;
  print(): void;
  printErr(): void;
}

interface TreeSitter {
  Parser: { new (): Parser; init(options: InitOptions): Promise<void> };
  Language: { load(bytes: Uint8Array | string): Promise<LoadedGrammar> };
}

export interface TreeParser {
  /** Null after the timeout. The caller must delete the tree. */
  parse(grammar: string, text: string, timeoutMs: number): Promise<SyntaxTree | null>;
}

/** Loads the parser. Each grammar is loaded for the first file of its language. */
export async function loadTreeSitter(): Promise<TreeParser> {
  const require = createRequire(import.meta.url);
  const main = require.resolve("@vscode/tree-sitter-wasm");
  const treeSitter = require("@vscode/tree-sitter-wasm") as TreeSitter;
  const pathTo = (file: string): string => join(dirname(main), file);
  await treeSitter.Parser.init({ locateFile: pathTo, print: ignoreOutput, printErr: ignoreOutput });
  const parser = new treeSitter.Parser();
  const grammars = new Map<string, Promise<LoadedGrammar>>();

  const load = (name: string): Promise<LoadedGrammar> => {
    const grammar = grammars.get(name) ?? treeSitter.Language.load(pathTo(`tree-sitter-${name}.wasm`));
    grammars.set(name, grammar);
    return grammar;
  };

  return {
    async parse(grammar, text, timeoutMs) {
      parser.setLanguage(await load(grammar));
      const untilMs = performance.now() + timeoutMs;
      const tree = parser.parse(text, null, { progressCallback: () => performance.now() > untilMs });
      // Without a reset, a stopped parser would continue with the old text.
      if (tree === null) parser.reset();
      return tree;
    },
  };
}

/** Discards the output of a parser that crashes. */
function ignoreOutput(): void {}

/** The named children of a node, without null. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return node.namedChildren.filter((child) => child !== null);
}

export function fieldsOf(node: SyntaxNode, field: string): SyntaxNode[] {
  return node.childrenForFieldName(field).filter((child) => child !== null);
}

/**
 * The comment directly above a node, or above the attributes before it. A comment at the end of another line does not
 * count.
 */
export function commentBefore(node: SyntaxNode, attributes: ReadonlySet<string> = new Set()): SyntaxNode | null {
  let below = node;
  let before = node.previousNamedSibling;
  while (before && attributes.has(before.type)) {
    below = before;
    before = before.previousNamedSibling;
  }
  if (!before?.type.endsWith("comment") || lastRowOf(before) + 1 < below.startPosition.row) return null;
  return before.previousNamedSibling?.endPosition.row === before.startPosition.row &&
    !before.previousNamedSibling.type.endsWith("comment")
    ? null
    : before;
}

/** Some grammars include the line end in a line comment. */
function lastRowOf(comment: SyntaxNode): number {
  return comment.text.endsWith("\n") ? comment.endPosition.row - 1 : comment.endPosition.row;
}
