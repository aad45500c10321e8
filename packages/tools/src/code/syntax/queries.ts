/** The kind of thing that a definition defines. */
export type DefinitionKind =
  | "function"
  | "class"
  | "method"
  | "interface"
  | "type"
  | "enum"
  | "member"
  | "property"
  | "constant"
  | "variable"
  | "module"
  | "parameter";

export interface Definition {
  name: string;
  kind: DefinitionKind;
  /** Line of the name, counted from 1. */
  line: number;
  /** Last line of the whole definition. */
  endLine: number;
  /** True when other files can use it, by the rules of its language. */
  exported: boolean;
  /** True when it has a doc comment or docstring. */
  documented: boolean;
  /** The definition up to its body, on one line, truncated. */
  signature: string;
  /** The names around it (`Class`, `Class.method`). Null at the top level of the file. */
  container: string | null;
}

export interface ImportedName {
  /** The name in the other module. `*` for the whole module, `default` for its default export. */
  name: string;
  /** The module specifier, as in the source. */
  from: string;
  line: number;
}

export interface ExportedName {
  name: string;
  /** The module specifier of a re-export. */
  from: string | null;
}

/** The definitions, imports and exports of a file, without local names. */
export interface Outline {
  definitions: Definition[];
  imports: ImportedName[];
  /** Names in export lists. A definition that is exported where it is defined is only in `definitions`. */
  exports: ExportedName[];
  /** True for a file that is meant to be started as a program. */
  program: boolean;
  /** Line of the first syntax error. Definitions near it may be missing. */
  errorLine: number | null;
}

/** `text` is an occurrence in a string or comment. */
export type OccurrenceUse = "definition" | "import" | "reference" | "text";

/** One occurrence of a name in a file. */
export interface Occurrence {
  line: number;
  use: OccurrenceUse;
  /** The line. Of a long line, the part around the name. */
  text: string;
  /** Set when the occurrence is a definition. */
  definition: Definition | null;
  /** Name of the function, method or class around it. */
  container: string | null;
}

export interface Occurrences {
  occurrences: Occurrence[];
  /** True when the file has more occurrences. */
  cut: boolean;
  errorLine: number | null;
}

/** A query about one file. */
export type SyntaxQuery = { kind: "outline" } | { kind: "occurrences"; name: string };

export interface SyntaxResults {
  outline: Outline;
  occurrences: Occurrences;
}

export type SyntaxResult = SyntaxResults[keyof SyntaxResults];

/** The reason why a file was not parsed. */
export interface Unparsed {
  problem: string;
}

/** Message to the parser thread. */
export interface ParseRequest {
  id: number;
  language: string;
  bytes: Uint8Array<ArrayBuffer>;
  query: SyntaxQuery;
}

/** Message from the parser thread. */
export type ThreadMessage =
  | { kind: "ready" }
  | { kind: "result"; id: number; result: SyntaxResult | Unparsed }
  /** The parser is in an unknown state. The thread ends. */
  | { kind: "broken"; id: number; problem: string };
