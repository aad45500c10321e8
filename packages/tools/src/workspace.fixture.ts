import { mkdtempDisposable, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolCall, type ToolContext, type ToolOutcome } from "@troupe/core";
import type { FilePlan } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import { test } from "vitest";
import { createToolHost } from "./tool-host.ts";

interface Fixtures {
  /** A folder that is removed at the end of the test. */
  folder: string;
  context: ToolContext;
  /** Runs one call of a tool in the folder, as a host does. */
  call: (tool: Tool, args: unknown, overrides?: Partial<ToolContext>) => Promise<ToolOutcome>;
  /** The file changes that such a call plans. */
  plan: (tool: Tool, args: unknown) => Promise<FilePlan[] | null>;
  /** Verifies whether a planned call has happened. */
  verify: (tool: Tool, args: unknown, plan: FilePlan[] | null) => Promise<ToolOutcome | null>;
}

/** A test with a workspace. */
export const workspaceTest = test.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  folder: async ({}, use) => {
    await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-tools-"));
    await use(made.path);
  },
  context: async ({ folder }, use) => {
    await use({
      session: "00000000-0000-7000-8000-000000000001",
      run: "00000000-0000-7000-8000-000000000002",
      agent: "main",
      workspace: folder,
      grant: { tools: ["read", "write", "shell"], agents: [], writes: [] },
      signal: new AbortController().signal,
      idempotencyKey: "run/1/0",
      approved: false,
      plan: null,
    });
  },
  call: async ({ context }, use) => {
    await use(async (tool, args, overrides) => {
      const host = createToolHost({ tools: [tool] });
      const own = { ...granting(context, tool), ...overrides };
      const toolCall = callOf(tool, args);
      return host.run(toolCall, { ...own, plan: await host.plan(toolCall, own) });
    });
  },
  verify: async ({ context }, use) => {
    await use((tool, args, plan) =>
      createToolHost({ tools: [tool] }).verify(callOf(tool, args), { ...granting(context, tool), plan }),
    );
  },
  plan: async ({ context }, use) => {
    await use((tool, args) => createToolHost({ tools: [tool] }).plan(callOf(tool, args), granting(context, tool)));
  },
});

function granting(context: ToolContext, { spec }: Tool): ToolContext {
  return { ...context, grant: { ...context.grant, tools: [...context.grant.tools, spec.name] } };
}

function callOf(tool: Tool, args: unknown) {
  return ToolCall.parse({ id: "call", name: tool.spec.name, args: JSON.parse(JSON.stringify(args)) });
}
