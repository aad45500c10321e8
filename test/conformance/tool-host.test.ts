import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileTools, createSandbox, createShellTool, createToolHost } from "@troupe/tools";
import { describe } from "vitest";
import { toolHostConformance } from "./tool-host.ts";

describe("the host of the real tools", () => {
  toolHostConformance(async () => {
    const workspace = await mkdtempDisposable(join(tmpdir(), "troupe-tool-host-"));
    const tools = [...createFileTools(), createShellTool({ sandbox: await createSandbox() })];
    return {
      host: createToolHost({ tools }),
      context: {
        session: "00000000-0000-7000-8000-000000000001",
        run: "00000000-0000-7000-8000-000000000002",
        agent: "main",
        workspace: workspace.path,
        grant: { tools: tools.map(({ spec }) => spec.name), agents: [], writes: [] },
        signal: new AbortController().signal,
        idempotencyKey: "run/1/0",
        approved: false,
        plan: null,
      },
      calls: {
        good: { id: "1", name: "shell", args: { command: "echo hello" }, problem: null },
        failing: { id: "2", name: "read", args: { path: "missing.md" }, problem: null },
        verifiable: { id: "3", name: "write", args: { path: "a.md", content: "hello" }, problem: null },
        slow: { id: "4", name: "shell", args: { command: "sleep 3600" }, problem: null },
      },
      [Symbol.asyncDispose]: () => workspace.remove(),
    };
  });
});
