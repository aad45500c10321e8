import { mkdtempSync, rmSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createConfiguration, templateWithModel } from "./configuration.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-configuration-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("creates the file and its folder, for this user only", async () => {
  const file = join(folder, ".config", "troupe", "config.yaml");
  expect(await createConfiguration(file, "model: sonnet\n")).toBe(true);
  expect(await readFile(file, "utf8")).toBe("model: sonnet\n");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

// `troupe setup` looks for the file first, but another process can create it while the user answers.
it("never overwrites a file", async () => {
  const file = join(folder, "config.yaml");
  await writeFile(file, "# mine\n");
  expect(await createConfiguration(file, "model: sonnet\n")).toBe(false);
  expect(await readFile(file, "utf8")).toBe("# mine\n");
});

it("reports a place that cannot be written, with the variable that names another", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(createConfiguration(join(folder, "file", "config.yaml"), "")).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    fix: expect.stringContaining("TROUPE_CONFIG"),
  });
});

it.each([
  ["ollama/qwen3:8b", "model: ollama/qwen3:8b"],
  ["lmstudio/my model: new", 'model: "lmstudio/my model: new"'],
])("writes the model %s as one text of YAML", (model, line) => {
  expect(templateWithModel(model).split("\n")).toContain(line);
});
