import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadMutants, mutantProblems, numbersShortOfMutants } from "./lib/mutants.ts";
import { root } from "./lib/project.ts";
import { requirementsFile } from "./lib/requirements-page.ts";

it("every mutant fits the sources once, and names rows and proofs of the page", async () => {
  expect(mutantProblems(await loadMutants(root), root)).toEqual([]);
});

it("counts the proven numbers that fewer than two mutants attack", async () => {
  const short = numbersShortOfMutants(await loadMutants(root), readFileSync(join(root, requirementsFile), "utf8"));
  console.log(`mutants: ${short.length} proven numbers have fewer than two: ${short.join(", ")}`);
  expect(new Set(short).size).toBe(short.length);
});
