import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToolContext, ToolOutcome } from "@troupe/core";
import type { Tool } from "@troupe/core/tool";
import { createAnySandbox } from "../sandbox/any-sandbox.fixture.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { createCodeTools } from "./create-code-tools.ts";
import { createSyntaxService } from "./syntax/syntax-service.ts";

interface Fixtures {
  /** The tests of one file share a parser thread, as the tools of one daemon do. */
  tools: readonly Tool[];
  /** Writes files to the workspace and creates their folders. */
  put: (files: Readonly<Record<string, string | Uint8Array>>) => Promise<void>;
  /** Calls one of the tools in the workspace. */
  ask: (tool: string, args: unknown, overrides?: Partial<ToolContext>) => Promise<ToolOutcome>;
}

/** A test with a workspace and the code tools. */
export const codeTest = workspaceTest.extend<Fixtures>({
  tools: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
    async ({}, use) => {
      const syntax = createSyntaxService();
      await use(createCodeTools({ sandbox: await createAnySandbox(), syntax }));
      await syntax.close();
    },
    { scope: "file" },
  ],
  put: async ({ folder }, use) => {
    await use(async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
    });
  },
  ask: async ({ call, tools }, use) => {
    await use((name, args, overrides) => {
      const tool = tools.find(({ spec }) => spec.name === name);
      if (!tool) throw new Error(`there is no tool ${name}`);
      return call(tool, args, { grant: { tools: [name], agents: [], writes: [] }, ...overrides });
    });
  },
});
