import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToolContext, ToolOutcome } from "@troupe/core";
import type { Tool } from "@troupe/core/tool";
import { createAnySandbox } from "../sandbox/any-sandbox.fixture.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { createSearchTools } from "./create-search-tools.ts";

interface Fixtures {
  /** One for the tests of a file: its creation runs a test command. */
  sandbox: Sandbox;
  tools: readonly Tool[];
  /** Writes files to the workspace and creates their folders. */
  put: (files: Readonly<Record<string, string | Buffer>>) => Promise<void>;
  glob: (args: unknown, overrides?: Partial<ToolContext>) => Promise<ToolOutcome>;
  search: (args: unknown, overrides?: Partial<ToolContext>) => Promise<ToolOutcome>;
}

/** A test with a workspace and the search tools. */
export const searchTest = workspaceTest.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  sandbox: [async ({}, use) => use(await createAnySandbox()), { scope: "file" }],
  tools: async ({ sandbox }, use) => {
    await use(createSearchTools({ sandbox }));
  },
  put: async ({ folder }, use) => {
    await use(async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(join(folder, dirname(path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    });
  },
  glob: async ({ tools, call }, use) => {
    await use((args, overrides) => call(named(tools, "glob"), args, { ...granted, ...overrides }));
  },
  search: async ({ tools, call }, use) => {
    await use((args, overrides) => call(named(tools, "search"), args, { ...granted, ...overrides }));
  },
});

export const granted: Pick<ToolContext, "grant"> = {
  grant: { tools: ["glob", "search", "plan_files"], agents: [], writes: [["nowhere"]] },
};

export function named(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find(({ spec }) => spec.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
}
