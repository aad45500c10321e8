import { basename, dirname } from "node:path/posix";
import { isTest } from "../file-roles.ts";
import { languageOf } from "../languages/languages.ts";
import type { Line } from "./fit-sections.ts";

const docs = /\.(md|mdx|rst|adoc)$/i;
const testFolder = /^(?:.*\/)?(tests?|__tests__|specs?|e2e|testdata)(?=\/)/;

/** Where tests and texts are. */
export function testsAndDocs(paths: readonly string[]): Line[] {
  const tests = paths.filter((path) => languageOf(path) && isTest(path));
  const texts = paths.filter((path) => docs.test(path) && !isTest(path));
  const top = texts.filter((path) => !path.includes("/"));
  const below = counted(texts.filter((path) => path.includes("/")).map((path) => dirname(path)));
  return [
    ...(tests.length > 0
      ? [{ text: `tests: ${tests.length} files: ${listed(counted(tests.map(placeOfTest)), 6)}`, rank: 0 }]
      : [{ text: "no tests were found", rank: 0 }]),
    ...(texts.length > 0
      ? [
          {
            text: `docs: ${[...top, ...(below.length > 0 ? [listed(below, 6)] : [])].slice(0, 10).join(", ")}`,
            rank: 1,
          },
        ]
      : []),
  ];
}

/** The folder of tests that it is in, or how files like it are called beside the source. */
function placeOfTest(path: string): string {
  const folder = testFolder.exec(path)?.[0];
  if (folder !== undefined) return `${folder}/`;
  const name = basename(path);
  const kind = /\.(test|spec|fixture|test-helper|stories)\.[^.]+$/.exec(name)?.[0];
  if (kind) return `*${kind} beside the source`;
  return /^test_/.test(name) ? "test_* beside the source" : `${dirname(path)}/`;
}

function counted(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function listed(counts: readonly [string, number][], shownMax: number): string {
  const shown = counts.slice(0, shownMax).map(([name, count]) => `${name} (${count})`);
  return [...shown, ...(counts.length > shownMax ? [`${counts.length - shownMax} more places`] : [])].join(", ");
}
