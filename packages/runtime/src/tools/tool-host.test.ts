import { type Blobs, hashText, RunFailure, TroupeError } from "@troupe/core";
import { createMemoryBlobs, createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, vi } from "vitest";
import { z } from "zod";
import { defineTool, type Tool, type ToolResult } from "./define-tool.ts";
import { createToolHost, type RiskDecision } from "./tool-host.ts";
import { workspaceTest as test } from "./workspace.fixture.ts";

const granted = { tools: ["probe"], agents: [] };

function probe(
  run: () => Promise<ToolResult> = async () => ({ output: "done" }),
  risk: "low" | "medium" | "high" = "low",
) {
  return defineTool({
    name: "probe",
    description: "Probes.",
    input: z.strictObject({ path: z.string(), depth: z.int().optional() }),
    risk,
    effect: "read",
    run,
  });
}

const call = { id: "1", name: "probe", args: { path: "a" } };

test("a model is told of a tool's arguments by a JSON Schema made from what they are parsed with", () => {
  expect(createToolHost({ tools: [probe()] }).specs()).toEqual([
    {
      name: "probe",
      description: "Probes.",
      risk: "low",
      effect: "read",
      groups: [],
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          depth: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
  ]);
});

describe("a call is refused before anything runs", () => {
  test("when the run was not granted the tool", async ({ context }) => {
    const run = vi.fn();
    const outcome = await createToolHost({ tools: [probe(run)] }).run(call, context);

    expect(outcome.error).toMatchObject({
      type: "permission",
      tool: "probe",
      message: 'the tool "probe" is not granted to this run; it has: read, write, shell',
    });
    expect(outcome.output).toContain("not granted");
    expect(run).not.toHaveBeenCalled();
  });

  test("when this machine has no such tool", async ({ context }) => {
    const outcome = await createToolHost({ tools: [] }).run(call, { ...context, grant: granted });
    expect(outcome.error).toMatchObject({ type: "tool_error", message: expect.stringContaining("does not have it") });
  });

  test.for([{ args: {} }, { args: { path: 1 } }, { args: { path: "a", extra: 1 } }, { args: null }, { args: "path" }])(
    "when its arguments do not fit: $args",
    async ({ args }, { context }) => {
      const run = vi.fn();
      const host = createToolHost({ tools: [probe(run)] });

      const outcome = await host.run({ ...call, args }, { ...context, grant: granted });

      expect(outcome.error).toMatchObject({ type: "params", tool: "probe", recoverable: false });
      expect(outcome.output).toContain("expected fields: path (required string), depth (optional integer)");
      expect(run).not.toHaveBeenCalled();
    },
  );
});

describe("this machine's policy has the last word:", () => {
  const cases: { risk: "low" | "medium" | "high"; decision: RiskDecision | "default"; runs: boolean }[] = [
    { risk: "low", decision: "default", runs: true },
    { risk: "medium", decision: "default", runs: true },
    { risk: "high", decision: "default", runs: false },
    { risk: "high", decision: "allow", runs: true },
    { risk: "low", decision: "deny", runs: false },
    { risk: "low", decision: "ask", runs: false },
  ];
  test.for(cases)("$risk risk under $decision", async ({ risk, decision, runs }, { context }) => {
    const run = vi.fn(async () => ({ output: "done" }));
    const policy = { low: "deny", medium: "deny", high: "deny", [risk]: decision } as const;
    const host = createToolHost({ tools: [probe(run, risk)], ...(decision === "default" ? {} : { policy }) });

    const outcome = await host.run(call, { ...context, grant: granted });

    expect(run).toHaveBeenCalledTimes(runs ? 1 : 0);
    if (runs) return;
    const named = decision === "default" ? "ask" : decision;
    expect(outcome.error?.type).toBe("permission");
    expect(outcome.error?.message).toContain(`${risk} risk`);
    expect(outcome.error?.message).toContain(`"${named}"`);
  });
});

describe("what a tool throws comes back as an outcome:", () => {
  test("a failure that says what it is, as it is", async ({ context }) => {
    const host = createToolHost({
      tools: [
        probe(async () => {
          throw new RunFailure({ type: "rate_limit", message: "slow down", recoverable: true, retryAfterMs: 5 });
        }),
      ],
    });
    expect(await host.run(call, { ...context, grant: granted })).toMatchObject({
      output: "rate_limit: slow down",
      error: { type: "rate_limit", tool: "probe", recoverable: true, retryAfterMs: 5 },
    });
  });

  test("anything else as an error of the tool", async ({ context }) => {
    const host = createToolHost({ tools: [probe(() => Promise.reject("a string"))] });
    expect(await host.run(call, { ...context, grant: granted })).toMatchObject({
      error: { type: "tool_error", message: "a string", tool: "probe", recoverable: false },
    });
  });
});

describe("an output over the cap", () => {
  const long = "🎭".repeat(100);
  const tools = [probe(async () => ({ output: long }))];

  test.for([247, 248, 249, 250])(
    "of %i bytes is cut between characters, says so, and is kept whole in blobs",
    async (outputBytesMax, { context }) => {
      const blobs = createMemoryBlobs();
      const host = createToolHost({ tools, blobs, outputBytesMax });

      const outcome = await host.run(call, { ...context, grant: granted });

      expect(outcome.output).toMatch(
        /^🎭+\n\[cut: this is the beginning of 400 bytes; the whole is kept as blob [0-9a-f]{64}\]$/u,
      );
      expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(outputBytesMax);
      expect(outcome.outputRef).toBe(hashText(long));
      expect(Buffer.from((await blobs.get(hashText(long))) ?? []).toString()).toBe(long);
    },
  );

  test("exactly at the cap is not over it", async ({ context }) => {
    const outcome = await createToolHost({ tools, outputBytesMax: 400 }).run(call, { ...context, grant: granted });
    expect(outcome).toMatchObject({ output: long, outputRef: null });
  });

  test("is cut all the same where it cannot be kept", async ({ context }) => {
    const full: Blobs = { put: () => Promise.reject(new Error("disk full")), get: async () => null };
    for (const [blobs, fate] of [
      [{}, "the rest is not kept"],
      [{ blobs: full }, "the rest could not be kept (disk full)"],
    ] as const) {
      const host = createToolHost({ tools, ...blobs, outputBytesMax: 250 });
      const outcome = await host.run(call, { ...context, grant: granted });
      expect(outcome).toMatchObject({ output: expect.stringContaining(fate), outputRef: null, error: null });
    }
  });
});

test("the time a call took is measured", async ({ context }) => {
  const clock = createSimulatedClock();
  const slow = probe(async () => {
    clock.advance(1_250);
    return { output: "done" };
  });
  const outcome = await createToolHost({ tools: [slow], clock }).run(call, { ...context, grant: granted });
  expect(outcome.durationMs).toBe(1_250);
});

describe("verify", () => {
  const verifiable = (verify: () => Promise<ToolResult | null>): Tool =>
    defineTool({
      name: "probe",
      description: "Probes.",
      input: z.strictObject({ path: z.string() }),
      risk: "low",
      effect: "verifiable",
      run: async () => ({ output: "done" }),
      verify,
    });

  test("of a tool that cannot tell leaves the call in doubt", async ({ context }) => {
    const host = createToolHost({ tools: [verifiable(() => Promise.reject(new Error("unreadable")))] });
    expect(await host.verify(call, { ...context, grant: granted })).toMatchObject({
      inDoubt: true,
      error: { type: "tool_error", message: "unreadable" },
    });
  });

  test("says nothing happened where the call is not granted", async ({ context }) => {
    const host = createToolHost({ tools: [verifiable(async () => ({ output: "done" }))] });
    expect(await host.verify(call, context)).toBeNull();
  });

  test("of a tool of another class is a mistake of the caller", async ({ context }) => {
    const host = createToolHost({ tools: [probe()] });
    await expect(host.verify(call, { ...context, grant: granted })).rejects.toThrow(TroupeError);
  });
});

test("two tools of one name are refused", () => {
  expect(() => createToolHost({ tools: [probe(), probe()] })).toThrow("two tools are named probe");
});
