import type { CodeFiles, CodeScope, WordLine } from "./code-files.ts";
import { isTest } from "./file-roles.ts";
import { languageOf } from "./languages/languages.ts";
import { type AskedName, isIn } from "./requested-name.ts";
import type { Definition, Place } from "./syntax/queries.ts";

export interface PlaceInFile extends Place {
  path: string;
}

export interface DefinitionInFile extends Definition {
  path: string;
}

/** Everything that is to be said of a name. */
export interface Found {
  definitions: DefinitionInFile[];
  /** Definitions of the name in another container than the one asked for. */
  elsewhere: DefinitionInFile[];
  references: PlaceInFile[];
  imports: PlaceInFile[];
  /** In strings and comments. */
  texts: PlaceInFile[];
  /** Lines of files that were not parsed. */
  words: WordLine[];
  /** Files that were not parsed although their language is understood, and why. */
  problems: { path: string; problem: string }[];
  /** Files with syntax errors, near which places may be taken for what they are not. */
  withErrors: { path: string; line: number }[];
  /** Files that have the name and were not looked into, for their number. */
  leftOut: number;
}

/** Looks for a name in the files that have it as a word; no other is parsed. */
export async function findPlaces(
  files: CodeFiles,
  scope: CodeScope,
  { asked, isWanted }: { asked: AskedName; isWanted: (path: string) => boolean },
): Promise<Found> {
  const word = { text: asked.member };
  const list = await files.list(scope, word);
  const wanted = list.paths.filter(isWanted);
  const parseable = testsLast(wanted.filter((path) => languageOf(path)));
  const { answers, leftOut } = await files.ask(scope, parseable, { kind: "places", name: asked.member });
  const problems = answers.flatMap(({ path, answer }) =>
    "problem" in answer ? [{ path, problem: answer.problem }] : [],
  );
  const places = answers.flatMap(({ path, answer }) =>
    "problem" in answer ? [] : answer.places.map((place) => ({ ...place, path })),
  );
  const unparsed = [...problems.map(({ path }) => path), ...wanted.filter((path) => !languageOf(path))];
  const definitions = places.flatMap(({ definition, path }) => (definition ? [{ ...definition, path }] : []));
  const of = (use: Place["use"]): PlaceInFile[] => places.filter((place) => place.use === use);
  return {
    definitions: definitions.filter(({ container }) => isIn(container, asked.container)).sort(byWeight),
    elsewhere: definitions.filter(({ container }) => !isIn(container, asked.container)).sort(byWeight),
    references: of("reference"),
    imports: of("import"),
    texts: of("text"),
    words: await files.lines(scope, word, unparsed),
    problems,
    withErrors: answers.flatMap(({ path, answer }) =>
      "problem" in answer || answer.errorLine === null ? [] : [{ path, line: answer.errorLine }],
    ),
    leftOut: leftOut + (list.isCut ? 1 : 0),
  };
}

function testsLast(paths: readonly string[]): string[] {
  return [...paths.filter((path) => !isTest(path)), ...paths.filter(isTest)];
}

const localKinds = new Set(["parameter", "variable", "constant", "property", "member"]);

/** What others use comes first, then what stands at the top of its file, then what is local; tests last. */
function byWeight(a: DefinitionInFile, b: DefinitionInFile): number {
  return weightOf(b) - weightOf(a);
}

function weightOf({ exported, container, kind, path }: DefinitionInFile): number {
  const isLocal = container !== null && localKinds.has(kind);
  return (exported ? 8 : 0) + (isLocal ? 0 : 4) + (isTest(path) ? 0 : 2) + (kind === "parameter" ? 0 : 1);
}
