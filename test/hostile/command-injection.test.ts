// Tool arguments are values: no text in them may run as a command or count as an option. Tests each text argument of
// each shipped tool except `shell`.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPolicy } from "@troupe/core";
import { createMemoryJournal } from "@troupe/core/memory";
import { createSandbox, createToolHost, createTools } from "@troupe/tools";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { commandInjections, gitInjections, quoteInjection, typicalInjections } from "../harness/command-injections.ts";
import { isLong } from "../harness/long.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const canary = "canary.txt";
const sing = "./sing.mjs";

/**
 * `git` takes any words, so it is asked with every text once, and behind each of its commands with the options that are
 * its own: no command quotes its words differently. The other tools have one place for a value each.
 */
function injectionsFor(tool: string, rowIndex: number): string[] {
  const names = { canary, sing };
  if (isLong) return commandInjections(names);
  if (tool !== "git") return typicalInjections(names);
  return rowIndex === 0 ? commandInjections(names) : gitInjections(names);
}

/**
 * Commands run without containment, so that an injection would show. `contains` only lets calls of medium risk through.
 */
const open = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode: "off" } });
const tools = createTools({
  sandbox: { ...open, contains: true },
  web: defaultPolicy.web,
  memoryFolder: "/nowhere",
  env: {},
  journal: createMemoryJournal(),
});

const repository = await createRepository(await mkdtemp(join(tmpdir(), "troupe-injection-")));
afterAll(() => rm(repository, { recursive: true, force: true }));

/** Arguments that place the text where it makes sense. */
const rows: Record<string, ((text: string) => object)[]> = {
  git: [
    (text) => ({ args: [text] }),
    ...["log", "diff", "grep", "checkout", "fetch"].map((name) => (text: string) => ({ args: [name, text] })),
    (text) => ({ args: ["diff", "--", text] }),
    (text) => ({ args: ["commit", "--allow-empty", "-m", text] }),
  ],
};

const skipped: readonly string[] = ["shell"];

describe.for(tools.filter(({ spec }) => !skipped.includes(spec.name)))("$spec.name", ({ spec }) => {
  const fields = rows[spec.name] ?? rowsOf(spec.inputSchema);
  test.for(fields.map((row, rowIndex) => ({ row, rowIndex, shown: JSON.stringify(row("…")) })))(
    "uses the text of $shown as a value",
    { timeout: 120_000 },
    async ({ row, rowIndex }, context) => {
      const workspace = await armedWorkspace(await tempFolder("injection", context));
      const host = createToolHost({ tools });
      for (const [i, text] of injectionsFor(spec.name, rowIndex).entries()) {
        const call = { id: String(i), name: spec.name, args: JSON.parse(JSON.stringify(row(text))), problem: null };
        await host.run(call, contextIn(workspace, context.signal));
        expect(existsSync(join(workspace, canary)), JSON.stringify(text)).toBe(false);
      }
    },
  );
});

test("the canary is written if a text is run as a command", async (context) => {
  const workspace = await armedWorkspace(await tempFolder("injection", context));
  const host = createToolHost({ tools });
  const call = { id: "1", name: "shell", args: { command: sing }, problem: null };
  await host.run(call, contextIn(workspace, context.signal));
  expect(existsSync(join(workspace, canary))).toBe(true);
});

test.each(["echo {}", "echo '{}'", 'echo "{}"'])(
  "the canary is written if a text becomes a part of %s",
  async (command) => {
    const folder = await mkdtemp(join(tmpdir(), "troupe-injection-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // The rest of the text is not a command, so the shell fails.
    spawnSync("sh", ["-c", command.replace("{}", () => quoteInjection(canary))], { cwd: folder });
    expect(existsSync(join(folder, canary))).toBe(true);
  },
);

/** A repository with tests, and a program that makes the canary however it is started. */
async function armedWorkspace(workspace: string): Promise<string> {
  await cp(repository, workspace, { recursive: true });
  await writeFile(
    join(workspace, sing),
    `#!${process.execPath}\nimport fs from "node:fs";\nfs.writeFileSync(${JSON.stringify(join(workspace, canary))}, "");\n`,
  );
  await chmod(join(workspace, sing), 0o755);
  return workspace;
}

/** The repository that each workspace is a copy of. */
async function createRepository(workspace: string): Promise<string> {
  await mkdir(join(workspace, "test"));
  await writeFile(join(workspace, "a.txt"), "one\n");
  await writeFile(join(workspace, "test/a.test.mjs"), 'import { it } from "node:test"; it("a", () => {});\n');
  await writeFile(join(workspace, "package.json"), '{"scripts":{"test":"node --test"}}');
  await writeFile(join(workspace, sing), "#!/bin/sh\n");
  await chmod(join(workspace, sing), 0o755);
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace, env, stdio: "ignore" });
  // Without the examples of hooks: they are most of the files to copy.
  git("init", "--quiet", "--template=");
  git("add", "--all");
  git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message=begin");
  await writeFile(join(workspace, "a.txt"), "two\n");
  return workspace;
}

interface Schema {
  type?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** For each field that takes text: arguments with the text in it, and the least in the others that are required. */
function rowsOf(schema: Schema): ((text: string) => object)[] {
  const { properties = {}, required = [] } = schema;
  const least = Object.fromEntries(required.map((name) => [name, leastOf(properties[name] ?? {})]));
  return Object.entries(properties).flatMap(([name, field]) =>
    holdersOf(field).map((hold) => (text: string) => ({ ...least, [name]: hold(text) })),
  );
}

function holdersOf({ type, enum: choices, items, properties, required }: Schema): ((text: string) => unknown)[] {
  if (type === "string" && !choices) return [(text) => text];
  if (type === "array" && items) return holdersOf(items).map((hold) => (text: string) => [hold(text)]);
  if (type === "object") return rowsOf({ properties: properties ?? {}, required: required ?? [] });
  return [];
}

function leastOf({ type, enum: choices, items, ...object }: Schema): unknown {
  if (choices) return choices[0];
  if (type === "string") return "a.txt";
  if (type === "integer" || type === "number") return 1;
  if (type === "array") return [leastOf(items ?? {})];
  if (type === "object")
    return Object.fromEntries((object.required ?? []).map((name) => [name, leastOf(object.properties?.[name] ?? {})]));
  return true;
}

function contextIn(workspace: string, signal: AbortSignal) {
  return {
    session: "00000000-0000-7000-8000-000000000001",
    run: "00000000-0000-7000-8000-000000000002",
    agent: "main",
    workspace,
    grant: { tools: tools.map(({ spec }) => spec.name), agents: [], writes: [] },
    signal,
    idempotencyKey: "run/1/0",
    approved: false,
    plan: null,
  };
}
