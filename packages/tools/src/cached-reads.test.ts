import { ToolCall, type ToolContext } from "@troupe/core";
import { recallToolName } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { defineTool } from "@troupe/core/tool";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { cacheReads } from "./cached-reads.ts";
import { parsePolicy } from "./policy/parse-policy.ts";
import { createToolHost } from "./tool-host.ts";

const input = z.strictObject({ path: z.string() });
const about = { description: "Counts.", input, risk: "low" as const };

function counting() {
  const ran: string[] = [];
  const gate = { open: Promise.resolve() };
  const tool = (name: string, effect: "read" | "unsafe", fails = false) =>
    defineTool({
      ...about,
      name,
      effect,
      async run({ path }) {
        ran.push(`${name} ${path}`);
        await gate.open;
        const error = { type: "tool_error" as const, message: "no", recoverable: false };
        return { output: `${ran.length}`, ...(fails ? { error } : {}) };
      },
    });
  const tools = [tool("look", "read"), tool("change", "unsafe"), tool("miss", "read", true)];
  return { ran, gate, tools };
}

function contextOf(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    session: "s1",
    run: "r1",
    agent: "main",
    workspace: "/w",
    grant: { tools: ["look", "change", "miss"], agents: [], writes: [] },
    signal: new AbortController().signal,
    idempotencyKey: "k",
    approved: false,
    plan: null,
    ...changes,
  };
}

const look = (path = "a"): ToolCall => ToolCall.parse({ id: "1", name: "look", args: { path } });
const change = ToolCall.parse({ id: "2", name: "change", args: { path: "a" } });
const miss = ToolCall.parse({ id: "3", name: "miss", args: { path: "a" } });

describe("a read is answered from memory", () => {
  test("the second time, for every run of the session", async () => {
    const { ran, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    const first = await host.run(look(), contextOf());
    expect((await host.run(look(), contextOf({ run: "r2" }))).output).toBe(first.output);
    expect(ran).toEqual(["look a"]);
  });

  test("but not a truncated output: only its own run can read the rest", async () => {
    const { ran, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools, blobs: createMemoryBlobs(), outputBytesMax: 0 }) });
    for (const run of ["r1", "r2"]) expect((await host.run(look(), contextOf({ run }))).outputRef).not.toBeNull();
    expect(ran).toEqual(["look a", "look a"]);
  });

  test("but not if it recalls a result, which belongs to one run", async () => {
    const { ran, tools } = counting();
    const recall = defineTool({
      ...about,
      name: recallToolName,
      effect: "read",
      run: async (_, { run }) => ({ output: `of ${run}` }),
    });
    const host = cacheReads({ host: createToolHost({ tools: [...tools, recall] }) });
    const call = ToolCall.parse({ id: "1", name: recallToolName, args: { path: "a" } });
    const grant = { tools: ["look", recallToolName], agents: [], writes: [] };
    await host.run(look(), contextOf({ grant }));
    const [own, others] = [
      await host.run(call, contextOf({ grant })),
      await host.run(call, contextOf({ grant, run: "r2" })),
    ];
    expect([own.output, others.output]).toEqual(["of r1", "of r2"]);
    await host.run(look(), contextOf({ grant }));
    expect(ran).toEqual(["look a"]);
  });

  test.for([
    { what: "of other arguments", call: look("b"), context: {} },
    { what: "in another session", call: look(), context: { session: "s2" } },
    { what: "in another workspace", call: look(), context: { workspace: "/v" } },
  ])("but not $what", async ({ call, context }) => {
    const { ran, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    await host.run(look(), contextOf());
    await host.run(call, contextOf(context));
    expect(ran).toHaveLength(2);
  });

  test("but not after a failure", async () => {
    const { ran, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    await host.run(miss, contextOf());
    await host.run(miss, contextOf());
    expect(ran).toEqual(["miss a", "miss a"]);
  });

  test("but not after a call that may have changed something", async () => {
    const { ran, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    await host.run(look(), contextOf());
    await host.run(change, contextOf());
    await host.run(look(), contextOf());
    expect(ran).toEqual(["look a", "change a", "look a"]);
  });

  test("a read during a change is not cached", async () => {
    const { ran, gate, tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    const opened = Promise.withResolvers<void>();
    gate.open = opened.promise;
    const both = Promise.all([host.run(look(), contextOf()), host.run(change, contextOf())]);
    opened.resolve();
    await both;
    await host.run(look(), contextOf());
    expect(ran).toEqual(["look a", "change a", "look a"]);
  });
});

describe("grant and policy are checked each time", () => {
  test("a run without the grant gets no answer from memory", async () => {
    const { tools } = counting();
    const host = cacheReads({ host: createToolHost({ tools }) });
    await host.run(look(), contextOf());
    const outcome = await host.run(look(), contextOf({ grant: { tools: [], agents: [], writes: [] } }));
    expect(outcome.error).toMatchObject({ type: "permission" });
  });

  test("nor does one whose policy wants a person asked", async () => {
    const { tools } = counting();
    const policy = parsePolicy("risk: {low: ask}", "policy.yaml");
    const host = cacheReads({ host: createToolHost({ tools, policy }) });
    await host.run(look(), contextOf({ approved: true }));
    expect((await host.run(look(), contextOf())).error).toMatchObject({ type: "permission" });
  });
});

test("memory is limited: to a number of outcomes per session, and to the newest sessions", async () => {
  const { ran, tools } = counting();
  const host = cacheReads({ host: createToolHost({ tools }), outcomesMax: 1, sessionsMax: 1 });
  await host.run(look("a"), contextOf());
  await host.run(look("b"), contextOf());
  await host.run(look("b"), contextOf());
  await host.run(look("a"), contextOf({ session: "s2" }));
  await host.run(look("a"), contextOf());
  expect(ran).toEqual(["look a", "look b", "look b", "look a", "look a"]);
});
