import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Mutant } from "../../test/mutants/mutant.ts";
import { MutantInputs } from "./mutant-inputs.ts";
import { StoredKills } from "./stored-kills.ts";

// A kill that is kept for too long would hide a proof that no longer notices.

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-mutant-inputs-"));
  execFileSync("git", ["init", "-q"], { cwd: folder });
  write("packages/core/package.json", '{ "name": "@troupe/core" }');
  write("packages/core/src/sum.ts", "export const sum = 1;\n");
  write("packages/core/src/other.ts", "export const other = 1;\n");
  write("packages/core/src/sum.test.ts", 'import { sum } from "./sum.ts";\n');
  write("packages/core/agents/main.md", "You add.\n");
  write("packages/tools/package.json", '{ "name": "@troupe/tools", "dependencies": { "@troupe/core": "1" } }');
  write("packages/tools/src/add.ts", "export const add = 1;\n");
  write("packages/tools/src/add.test.ts", 'import "@troupe/core";\nimport "./add.ts";\n');
  write("test/e2e/run.test.ts", 'import "../harness/cli.ts";\n');
  write("test/harness/cli.ts", "export const cli = 1;\n");
  write("docs/guide.md", "Run it.\n");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["the sources of the test", "packages/core/src/sum.ts", ["core", "tools", "e2e"]],
  ["another source of its package", "packages/core/src/other.ts", ["tools", "e2e"]],
  ["a text that its package reads", "packages/core/agents/main.md", ["core", "tools", "e2e"]],
  ["the test itself", "packages/core/src/sum.test.ts", ["core"]],
  ["a package that depends on it", "packages/tools/src/add.ts", ["tools", "e2e"]],
  ["a module of the harness", "test/harness/cli.ts", ["e2e"]],
  ["a document", "docs/guide.md", ["e2e"]],
  ["the lockfile", "pnpm-lock.yaml", ["core", "tools", "e2e"]],
])("after a change of %s, the results that depend on it count no longer", async (_, changed, expected) => {
  const mutants = {
    core: mutantOf("packages/core/src/sum.test.ts > adds"),
    tools: mutantOf("packages/tools/src/add.test.ts > adds"),
    e2e: mutantOf("test/e2e/run.test.ts > runs"),
  };
  const names = ["core", "tools", "e2e"] as const;
  const hashes = async (): Promise<string[]> => {
    const inputs = await MutantInputs.of(folder);
    return names.map((name) => inputs.hashOf(mutants[name]));
  };

  const before = await hashes();
  expect(await hashes()).toEqual(before);
  write(changed, "// changed\n");

  const after = await hashes();
  expect(names.filter((_name, i) => after[i] !== before[i])).toEqual(expected);
});

it("a kill is kept in the file, until an input changes", () => {
  const file = join(folder, "mutants.json");
  const mutant = mutantOf("packages/core/src/sum.test.ts > adds");
  const [one, other] = [new StoredKills(file), new StoredKills(file)];
  one.add(mutant, { inputs: "a", why: "adds" });
  other.add({ ...mutant, name: "another" }, { inputs: "b", why: "adds" });

  const later = new StoredKills(file);
  expect(later.killOf(mutant, "a")).toBe("adds");
  expect(later.killOf(mutant, "b")).toBeUndefined();
  expect(later.killOf({ ...mutant, name: "another" }, "b")).toBe("adds");
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function mutantOf(test: string): Mutant {
  return { name: "sum", rows: ["C.1"], file: "packages/core/package.json", find: "a", replace: "b", tests: [test] };
}
