import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { validateAgents } from "./validate-agents.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-validate-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, id: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, ["---", `name: ${id}`, "description: d", ...lines, "---", "x"].join("\n"));
  return path;
}

test("a folder: all its agents and problems", async () => {
  await write("a.md", "a", "subagents: {allow: [b, coder, missing]}");
  await write("b.md", "b", "maxTurns: x");
  const { agents, problems } = await validateAgents([folder]);
  expect(agents.map(({ id }) => id)).toEqual(["a"]);
  expect(problems.map(({ code }) => code).sort()).toEqual(["unknown-target", "unusable-target", "wrong-type"]);
});

test("a file: its own problems alone, though it may name other agents", async () => {
  const path = await write("a.md", "a", "subagents: {allow: [b, coder]}");
  await write("b.md", "b");
  await write("c.md", "c", "maxTurns: x");
  expect(await validateAgents([path])).toMatchObject({ agents: [{ id: "a" }], problems: [] });
});

test("a file that is given twice, also by its folder, is not a duplicate", async () => {
  const path = await write("a.md", "a");
  expect(await validateAgents([path, folder, path])).toMatchObject({ agents: [{ id: "a" }], problems: [] });
});

test("a file's warning is reported once", async () => {
  const path = await write("a.md", "a", "tols: [read]");
  expect(await validateAgents([path])).toMatchObject({ agents: [{ id: "a" }], problems: [{ code: "unknown-key" }] });
});

test("a file that closes a cycle with another file of its folder", async () => {
  const path = await write("a.md", "a", "subagents: {allow: [b]}");
  await write("b.md", "b", "subagents: {allow: [a]}");
  expect(await validateAgents([path])).toMatchObject({ agents: [], problems: [{ path, code: "delegation-cycle" }] });
});

test("a workspace means its folders of agents", async () => {
  await writeFile(join(folder, "NOTES.md"), "not an agent");
  await mkdir(join(folder, ".claude", "agents"), { recursive: true });
  await write(join(".claude", "agents", "a.md"), "a");
  expect(await validateAgents([folder])).toMatchObject({ agents: [{ id: "a" }], problems: [] });
});

test("a path that does not exist", async () => {
  const path = join(folder, "nothing.md");
  expect(await validateAgents([path])).toMatchObject({ agents: [], problems: [{ path, code: "not-found" }] });
});
