import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** What is used of tree-sitter's own types, whose package declares them under another name than its own. */
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
  setLanguage(language: Language): void;
  parse(text: string, old: null, options: { progressCallback: () => boolean }): SyntaxTree | null;
  reset(): void;
}

type Language = object;

interface InitOptions {
  locateFile(file: string): string;
  print(): void;
  printErr(): void;
}

interface TreeSitter {
  Parser: { new (): Parser; init(options: InitOptions): Promise<void> };
  Language: { load(bytes: Uint8Array | string): Promise<Language> };
}

export interface TreeParser {
  /** Null where it took too long. Whoever has a tree deletes it. */
  parse(grammar: string, text: string, timeoutMs: number): Promise<SyntaxTree | null>;
}

/** Loads the parser; grammars follow when a file of theirs comes. */
export async function loadTreeSitter(): Promise<TreeParser> {
  const require = createRequire(import.meta.url);
  const main = require.resolve("@vscode/tree-sitter-wasm");
  const treeSitter = require("@vscode/tree-sitter-wasm") as TreeSitter;
  const place = (file: string): string => join(dirname(main), file);
  await treeSitter.Parser.init({ locateFile: place, print: silent, printErr: silent });
  const parser = new treeSitter.Parser();
  const grammars = new Map<string, Promise<Language>>();

  const load = (name: string): Promise<Language> => {
    const grammar = grammars.get(name) ?? treeSitter.Language.load(place(`tree-sitter-${name}.wasm`));
    grammars.set(name, grammar);
    return grammar;
  };

  return {
    async parse(grammar, text, timeoutMs) {
      parser.setLanguage(await load(grammar));
      const untilMs = performance.now() + timeoutMs;
      const tree = parser.parse(text, null, { progressCallback: () => performance.now() > untilMs });
      // A parser that was stopped would go on with the old text at its next one.
      if (tree === null) parser.reset();
      return tree;
    },
  };
}

/** What it prints when it breaks is nobody's. */
function silent(): void {}

/** The named children that are there. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return node.namedChildren.filter((child) => child !== null);
}

export function fieldsOf(node: SyntaxNode, field: string): SyntaxNode[] {
  return node.childrenForFieldName(field).filter((child) => child !== null);
}
