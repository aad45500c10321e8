import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadMutants, mutantProblems, numbersShortOfMutants } from "./lib/mutants.ts";
import { root } from "./lib/project.ts";
import { requirementsFile } from "./lib/requirements-page.ts";

it("every mutant fits the sources once, and names rows and proofs of the page", async () => {
  expect(mutantProblems(await loadMutants(root), root)).toEqual([]);
});

it("at least two mutants attack every proven number", async () => {
  const page = readFileSync(join(root, requirementsFile), "utf8");
  expect(numbersShortOfMutants(await loadMutants(root), page)).toEqual([]);
});
