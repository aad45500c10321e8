import { nearestNames } from "../nearest-names.ts";
import type { AskedName } from "./asked-name.ts";
import type { CodeFiles, CodeScope } from "./code-files.ts";
import { isTest } from "./file-roles.ts";
import type { DefinitionInFile } from "./find-places.ts";
import { languageOf } from "./languages/languages.ts";
import { showDefinition } from "./show-places.ts";

const suggestionsMax = 6;

interface Wanted {
  asked: AskedName;
  isWanted: (path: string) => boolean;
}

/** The definitions most like a name that is found nowhere: those that differ in case alone, else the most similar. */
export async function nearDefinitions(files: CodeFiles, scope: CodeScope, wanted: Wanted): Promise<string[]> {
  const sameLetters = await files.list(scope, { text: wanted.asked.member, ignoreCase: true });
  const inCase = await definitionsIn(files, scope, sameLetters.paths.filter(wanted.isWanted));
  const folded = wanted.asked.member.toLowerCase();
  const same = inCase.filter(({ name }) => name.toLowerCase() === folded);
  if (same.length > 0) return same.slice(0, suggestionsMax).map(showDefinition);
  const all = await files.list(scope);
  return similar(folded, await definitionsIn(files, scope, all.paths.filter(wanted.isWanted))).map(showDefinition);
}

async function definitionsIn(
  files: CodeFiles,
  scope: CodeScope,
  paths: readonly string[],
): Promise<DefinitionInFile[]> {
  const parseable = paths.filter((path) => languageOf(path) && !isTest(path));
  const { answers } = await files.ask(scope, parseable, { kind: "outline" });
  return answers.flatMap(({ path, answer }) =>
    "problem" in answer ? [] : answer.definitions.map((definition) => ({ ...definition, path })),
  );
}

/** Names that hold the one that was asked for, or are held by it, are meant more often than those that look alike. */
function similar(asked: string, definitions: readonly DefinitionInFile[]): DefinitionInFile[] {
  const byName = new Map<string, DefinitionInFile>();
  for (const definition of definitions) {
    const known = byName.get(definition.name);
    if (!known || (!known.exported && definition.exported)) byName.set(definition.name, definition);
  }
  const names = [...byName.keys()];
  const near = nearestNames(asked, names, suggestionsMax);
  const holding = names
    .filter((name) => asked.length >= 4 && name.toLowerCase().includes(asked))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const [closest] = near;
  const isTypo = closest !== undefined && Math.abs(closest.length - asked.length) <= 1 && near.length > 0;
  const order = isTypo ? [closest, ...holding, ...near] : [...holding, ...near];
  return [...new Set(order)].slice(0, suggestionsMax).flatMap((name) => byName.get(name) ?? []);
}
