import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { createScenarioLoader, listScenarios, loadScenario } from "./load-scenario.ts";

const test = base.extend<{ folder: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  folder: async ({}, use) => {
    await using made = await mkdtempDisposable(join(tmpdir(), "troupe-scenarios-"));
    await use(made.path);
  },
});

const yamlOf = (name: string) => `{ name: ${name}, description: d, agents: { main: [{ steps: [{ text: hi }] }] } }`;

test("the shipped scenarios are known by name, and each is what its file is called", async () => {
  const names = await listScenarios();
  expect(names).toContain("demo");
  for (const name of names) expect((await loadScenario(name)).name).toBe(name);
});

test("a scenario is found by name in the folders, the first of them first, or by path", async ({ folder }) => {
  await using other = await mkdtempDisposable(join(tmpdir(), "troupe-scenarios-"));
  await writeFile(join(folder, "mine.yaml"), yamlOf("first"));
  await writeFile(join(other.path, "mine.yml"), yamlOf("second"));

  expect((await loadScenario("mine", { folders: [folder, other.path] })).name).toBe("first");
  expect((await loadScenario("mine", { folders: [other.path, folder] })).name).toBe("second");
  expect((await loadScenario(join(other.path, "mine.yml"), { folders: [] })).name).toBe("second");
});

test.for(["nothing", "../mine", "/no/such/file.yaml", "mine.yaml", "", "no name"])(
  "an unknown scenario (%j) is refused with those that are known",
  async (name, { folder }) => {
    await writeFile(join(folder, "mine.yaml"), yamlOf("mine"));
    await writeFile(join(folder, "yours.yml"), yamlOf("yours"));
    await expect(loadScenario(name, { folders: [folder, join(folder, "gone")] })).rejects.toMatchObject({
      code: "UNKNOWN_SCENARIO",
      message: `there is no scenario ${JSON.stringify(name)}; known ones: mine, yours`,
      fix: expect.stringContaining("path of a scenario file"),
    });
  },
);

test("a file is read again when it has changed, and only then", async ({ folder }) => {
  const load = createScenarioLoader({ folders: [folder] });
  await writeFile(join(folder, "mine.yaml"), yamlOf("before"));
  const before = await load("mine");

  expect(await load("mine")).toBe(before);
  await writeFile(join(folder, "mine.yaml"), yamlOf("afterwards"));
  expect((await load("mine")).name).toBe("afterwards");
});
