/**
 * Tools that users write: one file in a folder is enough, a faulty file does not affect others, and an old version
 * never stays.
 */
import { mkdir, mkdtempDisposable, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { defineTool, type Tool } from "@troupe/core/tool";
import { describe, expect, test as plainTest } from "vitest";
import { z } from "zod";
import { createToolHost } from "../tool-host.ts";
import { createProjectTrust, type ProjectTrust } from "../trust/project-trust.ts";
import { type CustomTools, createCustomTools } from "./custom-tools.ts";
import type { ImportModule } from "./import-source.ts";
import type { ToolProblem } from "./load-tools.ts";

/**
 * Vitest replaces `import()` and ignores Node's hooks, so the tests use the import of a file that Node itself loads.
 */
async function nativeImport(folder: string): Promise<ImportModule> {
  const file = join(folder, "import.cjs");
  await writeFile(file, "module.exports = (url) => import(url);");
  return createRequire(file)(file);
}

interface Fixture {
  folder: string;
  project: string;
  custom: CustomTools;
  problems: ToolProblem[];
  write(path: string, text: string): Promise<void>;
  accept(): Promise<void>;
  trust: ProjectTrust;
  /** The current tool names, and a tool's output. */
  names(workspace?: string): Promise<string[]>;
  say(name: string, workspace?: string): Promise<string>;
}

const shipped: Tool = defineTool({
  name: "read",
  description: "Reads.",
  input: z.strictObject({}),
  risk: "low",
  effect: "read",
  run: async () => ({ output: "shipped" }),
});

const test = plainTest.extend<{ place: Fixture }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  place: async ({}, use) => {
    await using root = await mkdtempDisposable(join(tmpdir(), "troupe-custom-"));
    const [folder, project] = [join(root.path, "tools"), join(root.path, "project")];
    await mkdir(project);
    const importModule = await nativeImport(root.path);
    const trust = createProjectTrust({ file: join(root.path, "trust.json") });
    const problems: ToolProblem[] = [];
    const onProblem = (problem: ToolProblem) => void problems.push(problem);
    const folders = [folder, join(root.path, "none")];
    const custom = createCustomTools({ folders, trust, shipped: [shipped], onProblem, importModule });
    const host = createToolHost({ tools: [shipped], custom });
    await use({
      folder,
      project,
      custom,
      problems,
      trust,
      async write(path, text) {
        await mkdir(dirname(join(root.path, path)), { recursive: true });
        await writeFile(join(root.path, path), text);
      },
      accept: async () =>
        trust.record(await trust.inspect(project), { decision: "accepted", at: "2026-11-18T12:00:00.000Z", by: "me" }),
      async names(workspace = project) {
        await host.prepare?.(workspace);
        return host.specs(workspace).map(({ name }) => name);
      },
      async say(name, workspace = project) {
        await host.prepare?.(workspace);
        const context = {
          session: "s",
          run: "r",
          agent: "main",
          workspace,
          grant: { tools: [name], agents: [], writes: [] },
          signal: new AbortController().signal,
          idempotencyKey: "r/1/0",
          approved: false,
          plan: null,
        };
        return (await host.run({ id: "1", name, args: {}, problem: null }, context)).output;
      },
    });
  },
});

const tool = (name: string, says: string): string => `
import { defineTool } from "@troupe/runtime";
import { z } from "zod";

export default defineTool({
  name: ${JSON.stringify(name)},
  description: "Says something.",
  input: z.strictObject({}),
  risk: "low",
  effect: "read",
  run: async () => ({ output: ${says} }),
});
`;

describe("a file in a folder of the user", () => {
  test("is a tool, without node_modules beside it", async ({ place }) => {
    expect(await place.names()).toEqual(["read"]);
    await place.write("tools/hello.mjs", tool("hello", '"hi"'));
    expect(await place.names()).toEqual(["read", "hello"]);
    expect(await place.say("hello")).toBe("hi");
    expect(place.problems).toEqual([]);
  });

  test("is several tools if it exports a list, and may be TypeScript", async ({ place }) => {
    await place.write(
      "tools/two.ts",
      `${tool("one", "String(1 as number)").replace("export default", "const one: unknown =")}
export default [one, defineTool({ name: "two", description: "2", input: z.strictObject({}), risk: "low", effect: "read", run: async () => ({ output: "2" }) })];`,
    );
    expect(await place.names()).toEqual(["read", "one", "two"]);
    expect(await place.say("one")).toBe("1");
  });

  test("imports files below it, and is loaded again when they change", async ({ place }) => {
    await place.write("tools/hello.mjs", `import { word } from "./lib/word.mjs";${tool("hello", "word")}`);
    await place.write("tools/lib/word.mjs", 'export { word } from "./deeper.js";');
    await place.write("tools/lib/deeper.js", 'export const word = "one";');
    expect(await place.say("hello")).toBe("one");
    await place.write("tools/lib/deeper.js", 'export const word = "two";');
    expect(await place.say("hello")).toBe("two");
    await place.write("tools/lib/deeper.js", 'export const word = "one";');
    expect(await place.say("hello")).toBe("one");
    expect(await place.names()).toEqual(["read", "hello"]);
    await rm(join(place.folder, "hello.mjs"));
    expect(await place.names()).toEqual(["read"]);
    expect(await place.say("hello")).toContain("this machine does not have it");
  });

  test("is imported once while it is unchanged", async ({ place }) => {
    const log = join(place.project, "log");
    await place.write(
      "tools/a.mjs",
      `import { appendFileSync } from "node:fs"; appendFileSync(${JSON.stringify(log)}, "x");${tool("a", '"a"')}`,
    );
    for (let i = 0; i < 3; i++) await place.say("a");
    await Promise.all([place.names(), place.names()]);
    expect(await readFile(log, "utf8")).toBe("x");
  });
});

describe("a faulty file is left out with a reason, and the others stay", () => {
  test.for([
    ["export default {", "cannot be imported: SyntaxError"],
    ['throw new Error("no database")', "cannot be imported: no database"],
    ["throw 7", "cannot be imported: 7"],
    ["export const x = 1", "has no default export"],
    ["export default 7", "the default export is not a tool"],
    ["export default [null]", "item 0 of the default export is not a tool"],
    ['export default { spec: { name: "x" }, bind() {} }', "the default export is not a tool"],
    [tool("a b", '""'), 'the default export is called "a b"'],
    [tool("Task", '""'), "always means delegation"],
    [tool("read", '""'), "the name read is taken: by troupe itself, and by "],
    [tool("sound", '""'), "the name sound is taken: by "],
    ['import "./missing.mjs"', "it imports ./missing.mjs from the folder of the tools: it is not there"],
    ['import "./sound"', "it needs its ending"],
    ['import "no-such-package"', "cannot be imported"],
    ["export default defineTool({})", "cannot be imported: ReferenceError"],
  ] as const)("%s", async ([text, message], { place }) => {
    await place.write("tools/a-sound.mjs", tool("sound", '"sound"'));
    await place.write("tools/wrong.mjs", text);
    expect(await place.names()).toEqual(["read", "sound"]);
    expect(await place.say("sound")).toBe("sound");
    expect(await place.say("read")).toBe("shipped");
    expect(place.problems).toEqual([
      {
        path: join(place.folder, "wrong.mjs"),
        message: expect.stringContaining(message),
        fix: expect.stringMatching(/./),
      },
    ]);
    expect(place.problems[0]?.message).toContain("wrong.mjs");
  });
});

describe("a file of a project", () => {
  const dice = ".troupe/tools/dice.mjs";

  test("is a tool once it is accepted, in that workspace alone, until a byte changes", async ({ place }) => {
    const mark = join(place.folder, "..", "mark");
    await place.write(
      `project/${dice}`,
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(mark)}, "");${tool("dice", '"6"')}`,
    );
    expect(await place.names()).toEqual(["read"]);
    await expect(readFile(mark)).rejects.toThrow("ENOENT");
    await place.accept();
    expect(await place.names()).toEqual(["read", "dice"]);
    expect(await place.say("dice")).toBe("6");
    const elsewhere = dirname(place.project);
    expect(await place.names(elsewhere)).toEqual(["read"]);
    expect(await place.say("dice", elsewhere)).toContain("this machine does not have it");
    await place.write("project/.mcp.json", "{}");
    expect(await place.names()).toEqual(["read"]);
    expect(await place.say("dice")).toContain("this machine does not have it");
  });

  test("stays available while another run has it loaded again", async ({ place }) => {
    await place.write(`project/${dice}`, tool("dice", '"6"'));
    await place.accept();
    await place.names();
    const seen = new Set<string>();
    let loading = true;
    const again = place.custom.refresh(place.project).finally(() => {
      loading = false;
    });
    while (loading) {
      seen.add(
        place.custom
          .of(place.project)
          .map(({ spec }) => spec.name)
          .join(),
      );
      await new Promise(setImmediate);
    }
    await again;
    expect([...seen]).toEqual(["dice"]);
  });

  test("runs as it was accepted, even if the file has changed since", async ({ place }) => {
    await place.write(`project/${dice}`, `import { word } from "./word.mjs";${tool("dice", "word")}`);
    await place.write("project/.troupe/tools/word.mjs", 'export const word = "accepted"; export default [];');
    await place.accept();
    const looked = await place.trust.inspect(place.project);
    const importModule = await nativeImport(place.folder.replace(/tools$/, ""));
    const late = createCustomTools({ folders: [], shipped: [], importModule, trust: { inspect: async () => looked } });
    await place.write("project/.troupe/tools/word.mjs", 'export const word = "swapped"; export default [];');
    await late.refresh(place.project);
    const context = { grant: { tools: [], agents: [], writes: [] } } as never;
    const found = late.of(place.project).find(({ spec }) => spec.name === "dice");
    expect((await found?.bind({}, context).run(context))?.output).toBe("accepted");
  });

  test.for([
    ['import "shadow"', "it imports shadow: only troupe, @troupe/*, zod and Node's own modules can be imported"],
    ['import "../../src/agents-write-here.mjs"', "it is not there"],
    ['await import("../../src/agents-write-here.mjs")', "it is not there"],
  ] as const)("cannot import files that were not accepted: %s", async ([text, message], { place }) => {
    await place.write("project/node_modules/shadow/package.json", '{"name":"shadow","main":"i.js"}');
    await place.write("project/node_modules/shadow/i.js", "");
    await place.write("project/src/agents-write-here.mjs", "");
    await place.write(`project/${dice}`, text);
    await place.accept();
    expect(await place.names()).toEqual(["read"]);
    expect(place.problems.map((problem) => problem.message)).toEqual([expect.stringContaining(message)]);
  });

  test("finds troupe's packages and not the project's packages of the same names", async ({ place }) => {
    await place.write("project/node_modules/@troupe/runtime/package.json", '{"name":"@troupe/runtime","main":"i.js"}');
    await place.write("project/node_modules/@troupe/runtime/i.js", 'throw new Error("shadowed")');
    await place.write(`project/${dice}`, tool("dice", '"6"'));
    await place.accept();
    expect(await place.say("dice")).toBe("6");
  });

  test("cannot take the name of a user's tool", async ({ place }) => {
    await place.write("tools/dice.mjs", tool("dice", '"mine"'));
    await place.write(`project/${dice}`, tool("dice", '"theirs"'));
    await place.accept();
    expect(await place.say("dice")).toBe("mine");
    expect(place.problems[0]?.message).toBe(
      `the name dice is taken: by ${join(place.folder, "dice.mjs")}, and by ${join(place.project, dice)}`,
    );
  });
});
