/** A result that has left the conversation is still in the journal of its run, for that run to read. */
import { type EntryBody, type ToolContext, ToolOutcome } from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { createScope, run } from "../../packages/runtime/src/host/effects/scope.test-helper.ts";
import { rootRequest, toolCall, writeEntries } from "../../packages/runtime/src/host/host-deps.test-helper.ts";
import { createRecallTool } from "../../packages/tools/src/memory/recall.ts";
import { createToolHost } from "../../packages/tools/src/tool-host.ts";

const other = "0198a000-0000-7000-8000-000000000002";
const faces = "👋".repeat(30);
const results = ["first\nof all", "x".repeat(40_000), faces];

function turn(step: number, output: string, changes: Partial<ToolOutcome> = {}): EntryBody[] {
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0 };
  const calls = [toolCall("echo", { step }, `call-${step}`)];
  const reply = { text: "", calls, usage, stopReason: "tool_calls" as const, model: "m" };
  return [
    { kind: "model.replied", step, reply, durationMs: 1 },
    { kind: "tool.finished", step, call: 0, tool: "echo", outcome: ToolOutcome.parse({ output, ...changes }) },
  ];
}

/** A run of three turns, and beside it one of the same session. */
async function twoRuns() {
  const { deps, request, pin } = await createScope();
  const blobs = createMemoryBlobs();
  const whole = `${"whole ".repeat(20)}end`;
  const outputRef = await blobs.put(new TextEncoder().encode(whole));
  const opened = (id: string): EntryBody => ({
    kind: "run.opened",
    request: rootRequest({ ...request, run: id }),
    pin,
  });
  await writeEntries(deps, request, [opened(run), ...results.flatMap((output, place) => turn(place + 1, output))]);
  await writeEntries(deps, { ...request, run: other }, [
    opened(other),
    ...turn(1, "of the other"),
    ...turn(2, "whole who[cut]", { outputRef }),
    ...turn(3, "gone who[cut]", { outputRef: "0".repeat(64) }),
  ]);
  const tool = createRecallTool({ journal: deps.journal, blobs });
  const recall = (args: object, of = run): Promise<ToolOutcome> => {
    const context: ToolContext = {
      session: request.session,
      run: of,
      agent: "main",
      workspace: "/w",
      grant: { tools: ["recall"], agents: [], writes: [] },
      signal: new AbortController().signal,
      idempotencyKey: "k",
      approved: false,
      plan: null,
    };
    return createToolHost({ tools: [tool] }).run(toolCall("recall", JSON.parse(JSON.stringify(args))), context);
  };
  return { recall, whole, deps, request };
}

describe("a recalled result", () => {
  test("has the exact text, and nothing else", async () => {
    const { recall } = await twoRuns();
    expect(await recall({ result: "1/0" })).toMatchObject({ output: results[0], error: null });
    expect(await recall({ result: "2/0", length: 40_000 })).toMatchObject({ output: results[1] });
  });

  test("is split into parts that report their ends, without a split character", async () => {
    const { recall } = await twoRuns();
    const long = await recall({ result: "2/0" });
    expect(long.output).toBe(`${"x".repeat(8_000)}\n[characters 0 to 8000 of 40000; continue with from 8000]`);
    const last = await recall({ result: "2/0", from: 39_990 });
    expect(last.output).toBe(`${"x".repeat(10)}\n[characters 39990 to 40000 of 40000]`);
    expect((await recall({ result: "3/0", from: 1, length: 6 })).output).toBe(
      "👋👋👋\n[characters 2 to 8 of 60; continue with from 8]",
    );
  });

  test("is complete if its output was truncated, and otherwise as it was shown", async () => {
    const { recall, whole } = await twoRuns();
    expect((await recall({ result: "2/0" }, other)).output).toBe(whole);
    expect((await recall({ result: "3/0" }, other)).output).toBe("gone who[cut]");
  });

  test("belongs to this run alone, with any other runs in its session", async () => {
    const { recall } = await twoRuns();
    expect((await recall({ result: "1/0" }, other)).output).toBe("of the other");
    expect((await recall({ result: "1/0" })).output).toBe(results[0]);
  });

  test("of a denied call, or of a child, has the text of its result", async () => {
    const { recall, deps, request } = await twoRuns();
    const error = {
      type: "permission" as const,
      message: "not that",
      tool: null,
      recoverable: false,
      retryAfterMs: null,
    };
    const [replied] = turn(4, "");
    await writeEntries(deps, request, [
      {
        ...replied,
        reply: { ...(replied as { reply: object }).reply, calls: [toolCall("delegate", { agent: "x", task: "y" })] },
      } as EntryBody,
      { kind: "calls.planned", step: 4, children: [], refused: [{ call: 0, tool: "delegate", error }] },
      ...turn(5, "later"),
    ]);
    expect((await recall({ result: "4/0" })).output).toMatch(/^\{"error":\{"type":"permission"/);
  });
});

describe("a result that cannot be recalled has a reason:", () => {
  test.for([
    { args: { result: "9/0" }, message: "this run has no result 9/0; its newest results: 1/0, 2/0, 3/0" },
    { args: { result: "1/1" }, message: "this run has no result 1/1" },
    { args: { result: "1/0", from: 12 }, message: "1/0 has only 12 characters; from is 12" },
    { args: { result: "0/4" }, message: 'a reference has the form "3/0"' },
    { args: { result: "gate.md" }, message: 'a reference has the form "3/0"' },
    { args: { result: "1/0", run: other }, message: "expected fields: result (required string)" },
  ])("$args", async ({ args, message }) => {
    const { recall } = await twoRuns();
    const { error, output } = await recall(args);
    expect(error).toMatchObject({ type: "params", recoverable: false });
    expect(output).toContain(message);
  });
});
