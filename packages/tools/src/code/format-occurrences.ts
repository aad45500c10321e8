import type { DefinitionInFile, Found, PlaceInFile } from "./find-occurrences.ts";
import type { AskedName } from "./requested-name.ts";

export interface ShowOptions {
  name: string;
  asked: AskedName;
  kind: "definitions" | "references" | "all";
  limit: number;
}

const problemsShown = 5;
const wordsShown = 15;
const definitionsShareMax = 0.5;

/** What was found, for a model: the counts first, definitions before references, what is uncertain at the end. */
export function showPlaces(found: Found, options: ShowOptions): string {
  const { kind, limit } = options;
  const withDefinitions = kind !== "references";
  const withReferences = kind !== "definitions";
  const definitionsMax = withReferences ? Math.max(1, Math.ceil(limit * definitionsShareMax)) : limit;
  const definitions = withDefinitions ? showDefinitions(found, options, definitionsMax) : [];
  const left = Math.max(1, limit - Math.min(found.definitions.length, withDefinitions ? definitionsMax : 0));
  const references = withReferences ? showReferences(found, options, left) : [];
  return [countsOf(found, options), ...definitions, ...references, ...showWords(found), ...doubts(found)].join("\n");
}

function countsOf({ definitions, references, imports, texts, words }: Found, { name }: ShowOptions): string {
  const files = new Set([...definitions, ...references, ...imports].map(({ path }) => path)).size;
  const parts = [
    counted(definitions.length, "definition"),
    counted(references.length, "reference"),
    counted(imports.length, "import"),
  ];
  const aside = [
    ...(texts.length > 0 ? [`${texts.length} in strings and comments not shown`] : []),
    ...(words.length > 0 ? ["word matches in files that were not parsed"] : []),
  ];
  const also = aside.length > 0 ? ` (beside that: ${aside.join("; ")})` : "";
  return `${name}: ${parts.join(", ")} in ${counted(files, "file")}${also}`;
}

function showDefinitions({ definitions, elsewhere }: Found, { asked }: ShowOptions, max: number): string[] {
  const head = ["", "Definitions:"];
  if (definitions.length > 0)
    return [...head, ...definitions.slice(0, max).map(showDefinition), ...more(definitions, max)];
  if (asked.container === null || elsewhere.length === 0) return [...head, "none among the files that were parsed"];
  return [
    ...head,
    `none in ${asked.container}; ${asked.member} is defined elsewhere:`,
    ...elsewhere.slice(0, max).map(showDefinition),
    ...more(elsewhere, max),
  ];
}

export function showDefinition(definition: DefinitionInFile): string {
  const { path, line, endLine, kind, exported, container, signature } = definition;
  const lines = endLine > line ? `${line}-${endLine}` : line;
  const traits = [`${exported ? "exported " : ""}${kind}`, ...(container === null ? [] : [`in ${container}`])].join(
    " ",
  );
  return `${path}:${lines} ${traits}: ${signature}`;
}

function showReferences({ references, imports }: Found, { asked }: ShowOptions, max: number): string[] {
  const note = asked.container === null ? "" : ` (by the name ${asked.member} alone: the object's type is not known)`;
  const used = references.length === 0 ? [] : ["", `References${note}:`, ...grouped(references, max)];
  return [...used, ...showImports(imports, Math.max(5, max - references.length))];
}

/** Lines below the name of their file; places on the same line once. */
function grouped(places: readonly PlaceInFile[], max: number): string[] {
  const lines: string[] = [];
  let lastPath = "";
  let lastLine = 0;
  for (const { path, line, text, container } of places.slice(0, max)) {
    if (path !== lastPath) lines.push(path);
    if (path !== lastPath || line !== lastLine)
      lines.push(`  ${line}${container === null ? "" : ` in ${container}`}: ${text}`);
    lastPath = path;
    lastLine = line;
  }
  return [...lines, ...more(places, max)];
}

function showImports(imports: readonly PlaceInFile[], max: number): string[] {
  if (imports.length === 0) return [];
  const places = imports.map(({ path, line }) => `${path}:${line}`);
  return ["", "Imports:", ...[...new Set(places)].slice(0, max), ...more(places, max)];
}

function showWords({ words }: Found): string[] {
  if (words.length === 0) return [];
  const shown = words.slice(0, wordsShown).map(({ path, line, text }) => `${path}:${line}: ${text}`);
  return ["", "Word matches in files that were not parsed:", ...shown, ...more(words, wordsShown)];
}

/** What may be missing, and why. */
function doubts({ problems, withErrors, leftOut }: Found): string[] {
  const lines = [
    ...problems.slice(0, problemsShown).map(({ path, problem }) => `${path} was not parsed: ${problem}`),
    ...more(problems, problemsShown),
    ...withErrors
      .slice(0, problemsShown)
      .map(
        ({ path, line }) =>
          `${path} has a syntax error near line ${line}: places there may be taken for something else`,
      ),
    ...more(withErrors, problemsShown),
    ...(leftOut > 0
      ? [`${leftOut} or more further files have the name and were not looked into: narrow it with path`]
      : []),
  ];
  return lines.length > 0 ? ["", ...lines] : [];
}

function more(list: readonly unknown[], shown: number): string[] {
  return list.length > shown ? [`… and ${list.length - shown} more`] : [];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
