/** What a definition makes. */
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
  /** Where the name stands, counted from 1. */
  line: number;
  /** Of the whole definition. */
  endLine: number;
  /** Whether other files can use it: by what its language calls public. */
  exported: boolean;
  /** Whether a doc comment or docstring says something of it. */
  documented: boolean;
  /** Up to its body, on one line, cut where it is long. */
  signature: string;
  /** What it stands in (`Class`, `Class.method`); null at the top of its file. */
  container: string | null;
}

export interface ImportedName {
  /** As the other module calls it; `*` for all of it, `default` for what it exports by that name. */
  name: string;
  /** The module as it is written. */
  from: string;
  line: number;
}

export interface ExportedName {
  name: string;
  /** Of a re-export: the module as it is written. */
  from: string | null;
}

/** What a file defines, takes and gives. Local names are left out. */
export interface Outline {
  definitions: Definition[];
  imports: ImportedName[];
  /** Names in lists of exports; what is exported where it is defined stands in `definitions` alone. */
  exports: ExportedName[];
  /** Whether it does something when it is started as a program. */
  program: boolean;
  /** Line of the first syntax error; what stands near one may be missing. */
  errorLine: number | null;
}

/** `text`: in a string or a comment. */
export type PlaceUse = "definition" | "import" | "reference" | "text";

/** One place where a name stands. */
export interface Place {
  line: number;
  use: PlaceUse;
  /** The line, or what is around the name in a long one. */
  text: string;
  /** Of a definition. */
  definition: Definition | null;
  /** What it stands in: the function, method or class around it. */
  container: string | null;
}

export interface Places {
  places: Place[];
  /** More than were kept. */
  cut: boolean;
  errorLine: number | null;
}

/** What can be asked of a file. */
export type Question = { kind: "outline" } | { kind: "places"; name: string };

export interface Answers {
  outline: Outline;
  places: Places;
}

/** Why a file was not looked into. */
export interface Unparsed {
  problem: string;
}

/** To the thread. */
export interface ParseRequest {
  id: number;
  language: string;
  bytes: Uint8Array<ArrayBuffer>;
  question: Question;
}

/** From the thread. */
export type ThreadMessage =
  | { kind: "ready" }
  | { kind: "answer"; id: number; answer: Outline | Places | Unparsed }
  /** The parser is in a state that nobody knows: the thread ends itself. */
  | { kind: "broken"; id: number; problem: string };
