import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { isWithin, notYet, numberOf, parseRows, proofNames, readPage, splitHidden } from "./requirements-page.ts";
import type { TestReport } from "./vitest-report.ts";

/** All mutants of a checkout: `mutants` of each file in its folder, but of the one with the type. */
export async function loadMutants(root: string): Promise<Mutant[]> {
  const folder = join(root, "test", "mutants");
  const files = readdirSync(folder).filter((name) => name !== "mutant.ts");
  const loaded = await Promise.all(files.toSorted().map((name) => loadFile(join(folder, name))));
  return loaded.flat();
}

async function loadFile(file: string): Promise<readonly Mutant[]> {
  const { mutants } = (await import(pathToFileURL(file).href)) as { mutants?: readonly Mutant[] };
  if (!mutants) throw new Error(`${file} exports no list called mutants`);
  return mutants;
}

/** Problems of the list itself: edits that do not fit the sources, rows and tests that do not exist. */
export function mutantProblems(mutants: readonly Mutant[], root: string): string[] {
  const rows = new Map(parseRows(splitHidden(readPage(root).markdown).shown).map((row) => [row.id, row]));
  const names = mutants.map(({ name }) => name);
  const doubled = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  return [
    ...[...doubled].map((name) => `"${name}" is the name of more than one mutant`),
    ...mutants.flatMap((mutant) => {
      const proofs = mutant.rows.flatMap((id) => proofNames(rows.get(id)?.proof ?? ""));
      const problems = [
        ...editProblems(mutant, root),
        ...mutant.rows.flatMap((id) => rowProblems(id, rows.get(id)?.proof)),
        ...(mutant.rows.length === 0 && !mutant.part ? ["it attacks no row and no part"] : []),
        ...(mutant.tests.length === 0 ? ["it names no test"] : []),
        ...mutant.tests
          .filter((test) => !existsSync(join(root, fileOf(test))))
          .map((test) => `"${test}" names no file`),
        ...mutant.tests
          .filter((test) => mutant.rows.length > 0 && !proofs.some((proof) => isWithin(test, proof)))
          .map((test) => `"${test}" does not prove ${mutant.rows.join(" or ")}`),
      ];
      return problems.map((problem) => `${mutant.name}: ${problem}`);
    }),
  ];
}

function editProblems({ file, find, replace }: Mutant, root: string): string[] {
  if (!existsSync(join(root, file))) return [`${file} does not exist`];
  if (find === "") return ["`find` is empty"];
  if (find === replace) return ["`replace` is the same as `find`"];
  const count = readFileSync(join(root, file), "utf8").split(find).length - 1;
  return count === 1 ? [] : [`\`find\` occurs ${count} times in ${file}, and must occur once`];
}

function rowProblems(id: string, proof: string | undefined): string[] {
  if (proof === undefined) return [`there is no row ${id}`];
  return proof === notYet ? [`row ${id} is not proven yet`] : [];
}

/** The tests of mutants that a whole test run did not have. */
export function unknownMutantTests(mutants: readonly Mutant[], { tests }: TestReport): string[] {
  const names = tests.map(({ file, titles }) => [file, ...titles].join(" > "));
  return mutants.flatMap((mutant) =>
    mutant.tests
      .filter((test) => !names.some((name) => isWithin(name, test)))
      .map((test) => `${mutant.name}: "${test}" did not run`),
  );
}

/** Proven numbers that fewer than two mutants attack. */
export function numbersShortOfMutants(mutants: readonly Mutant[], markdown: string): string[] {
  const rows = parseRows(splitHidden(markdown).shown);
  const pending = new Set(rows.filter(({ proof }) => proof === notYet).map(({ id }) => numberOf(id)));
  const proven = [...new Set(rows.map(({ id }) => numberOf(id)))].filter((number) => !pending.has(number));
  return proven.filter(
    (number) => mutants.filter((mutant) => mutant.rows.some((id) => numberOf(id) === number)).length < 2,
  );
}

/** `packages/core` of a file in it, or of a test there. */
export function packageOf(file: string): string | undefined {
  return /^(?:packages|apps)\/[^/]+(?=\/)/.exec(file)?.[0];
}

/** The file of a test `path > title`. */
export function fileOf(test: string): string {
  return test.split(" > ", 1)[0] ?? "";
}

/** Vitest matches the titles of a test joined by spaces, and a title may hold " > " itself. */
export function patternOf(tests: readonly string[]): string {
  const patterns = tests.map((test) => {
    const titles = test.slice(test.indexOf(" > ") + 3).split(" > ");
    return titles.map((title) => title.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("(?: > | )");
  });
  return `^\\s*(?:${patterns.join("|")})(?: |$)`;
}
