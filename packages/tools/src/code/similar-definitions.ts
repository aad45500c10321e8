import { setImmediate } from "node:timers/promises";
import { nearestNames } from "@troupe/core/internal";
import type { CodeFiles, CodeScope } from "./code-files.ts";
import { isTest } from "./file-roles.ts";
import type { DefinitionInFile } from "./find-occurrences.ts";
import { showDefinition } from "./format-occurrences.ts";
import { languageOf } from "./languages/languages.ts";
import type { AskedName } from "./requested-name.ts";

const suggestionsMax = 6;
const namesAtOnce = 500;

interface Wanted {
  asked: AskedName;
  isWanted: (path: string) => boolean;
}

export interface Near {
  definitions: string[];
  /** Files that were not looked into, for their number. */
  leftOut: number;
}

/** The definitions most like a name that is found nowhere: those that differ in case alone, else the most similar. */
export async function nearDefinitions(files: CodeFiles, scope: CodeScope, wanted: Wanted): Promise<Near> {
  const sameLetters = await files.list(scope, { text: wanted.asked.member, ignoreCase: true });
  const inCase = await definitionsIn(files, scope, sameLetters.paths.filter(wanted.isWanted));
  const folded = wanted.asked.member.toLowerCase();
  const same = inCase.definitions.filter(({ name }) => name.toLowerCase() === folded);
  if (same.length > 0) return { definitions: same.slice(0, suggestionsMax).map(showDefinition), leftOut: 0 };
  const list = await files.list(scope);
  const all = await definitionsIn(files, scope, list.paths.filter(wanted.isWanted));
  const near = await similar(folded, all.definitions);
  return { definitions: near.map(showDefinition), leftOut: all.leftOut };
}

async function definitionsIn(files: CodeFiles, scope: CodeScope, paths: readonly string[]) {
  const parseable = paths.filter((path) => languageOf(path) && !isTest(path));
  const { answers, leftOut } = await files.ask(scope, parseable, { kind: "outline" });
  const definitions = answers.flatMap(({ path, answer }): DefinitionInFile[] =>
    "problem" in answer ? [] : answer.definitions.map((definition) => ({ ...definition, path })),
  );
  return { definitions, leftOut };
}

/** Names that hold the one that was asked for, or are held by it, are meant more often than those that look alike. */
async function similar(asked: string, definitions: readonly DefinitionInFile[]): Promise<DefinitionInFile[]> {
  const byName = new Map<string, DefinitionInFile>();
  for (const definition of definitions) {
    const known = byName.get(definition.name);
    if (!known || (!known.exported && definition.exported)) byName.set(definition.name, definition);
  }
  const names = [...byName.keys()];
  const near = await nearest(asked, names);
  const holding = names
    .filter((name) => asked.length >= 4 && name.toLowerCase().includes(asked))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const [closest] = near;
  const isTypo = closest !== undefined && Math.abs(closest.length - asked.length) <= 1 && near.length > 0;
  const order = isTypo ? [closest, ...holding, ...near] : [...holding, ...near];
  return [...new Set(order)].slice(0, suggestionsMax).flatMap((name) => byName.get(name) ?? []);
}

/** The nearest of many names, in parts: to compare each of them takes its time, and others wait for the same thread. */
async function nearest(asked: string, names: readonly string[]): Promise<string[]> {
  let best: string[] = [];
  for (let from = 0; from < names.length; from += namesAtOnce) {
    best = nearestNames(asked, [...best, ...names.slice(from, from + namesAtOnce)], suggestionsMax);
    await setImmediate();
  }
  return best;
}
