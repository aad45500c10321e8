/**
 * An output that is too long to be shown, over a real host: its model is told how to read the rest, and can, also where
 * it is a child's, and once the result has left the conversation. An agent without the tool is not told to recall.
 */
import type { Message, RunRequest } from "@troupe/core";
import { createMemoryBlobs, createMemoryJournal } from "@troupe/core/memory";
import { createScriptedProvider, parseScenario } from "@troupe/models";
import { createRecallTool, createToolHost, defineTool } from "@troupe/tools";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createActorHost } from "./actor-host.ts";
import { ask, createTestDeps, entriesOf, realClock, rootRequest } from "./host-deps.test-helper.ts";

const scenario = parseScenario(
  `
name: recall
description: Its results are too long.
agents:
  main:
    - steps:
        - { calls: [{ tool: lookup, args: { page: 1 } }] }
        - { calls: [{ tool: recall, args: { result: "1/0", from: 700, length: 4000 } }] }
        - { calls: [{ tool: delegate, args: { agent: helper, task: look, context: full } }, { tool: delegate, args: { agent: limited, task: look } }] }
        - { calls: [{ tool: lookup, args: { page: 2 } }, { tool: lookup, args: { page: 3 } }, { tool: lookup, args: { page: 4 } }] }
        - { calls: [{ tool: lookup, args: { page: 5 } }, { tool: lookup, args: { page: 6 } }, { tool: lookup, args: { page: 7 } }] }
        - { calls: [{ tool: recall, args: { result: "1/0" } }] }
        - { text: done }
  helper:
    - steps:
        - { calls: [{ tool: lookup, args: { page: 8 } }] }
        - { calls: [{ tool: recall, args: { result: "1/0", from: 700, length: 4000 } }] }
        - { text: looked }
  limited:
    - steps:
        - { calls: [{ tool: lookup, args: { page: 9 } }] }
        - { text: looked }
`,
  "recall.yaml",
);

/** Every character of it says where it is. */
const pageOf = (page: number): string =>
  Array.from({ length: 500 }, (_, i) => `${page}${String(i).padStart(7, "0")} `).join("");

const lookup = defineTool({
  name: "lookup",
  description: "Looks a page up.",
  input: z.strictObject({ page: z.int() }),
  risk: "low",
  effect: "read",
  run: async ({ page }) => ({ output: pageOf(page) }),
});

test("an output that is too long is read to its end", async () => {
  const { read, entries } = await played();
  const first = results(read.get("main/2"))[0] ?? "";
  expect(first.startsWith("10000000 10000001 ")).toBe(true);
  expect(first.endsWith(" 10000499 ")).toBe(true);
  expect(first).toMatch(
    /\[cut: characters (\d+) to (\d+) of 4500 are left out; to read them, call recall with \{"result":"1\/0","from":\1\}\]/,
  );
  const rest = results(read.get("main/3")).at(-1);
  expect(rest).toBe(`${pageOf(1).slice(700)}\n[characters 700 to 4500 of 4500]`);

  // A child has results of its own, and is not told of those of its parent, though it was given them to read.
  const told = (read.get("helper/1") ?? []).map(({ text }) => text).join("\n");
  expect(told).toContain("[cut: characters ");
  expect(told).not.toContain("call recall");
  const own = results(read.get("helper/3")).at(-1);
  expect(own).toBe(`${pageOf(8).slice(700)}\n[characters 700 to 4500 of 4500]`);

  // One that cannot recall is told something else.
  const limited = results(read.get("limited/2"))[0];
  expect(limited).toContain("they cannot be read from here: ask for less at a time");
  expect(limited).not.toContain("recall");

  // A result that has left the conversation comes back whole, and not as it was shown.
  const trimmed = entries.flatMap((entry) => (entry.kind === "context.trimmed" ? entry.results : []));
  expect(trimmed).toContain("1/0");
  expect(results(read.get("main/7")).at(-1)).toBe(pageOf(1));
});

function results(messages: readonly Message[] = []): string[] {
  return messages.flatMap((message) => (message.role === "tool" ? [message.text] : []));
}

async function played() {
  const journal = createMemoryJournal();
  const blobs = createMemoryBlobs();
  const models = createScriptedProvider({ load: async () => scenario, clock: realClock });
  const read = new Map<string, readonly Message[]>();
  const agents = [
    { id: "main", subagents: { allow: ["helper", "limited"] } },
    { id: "helper" },
    { id: "limited", tools: ["lookup"] },
  ];
  const deps = {
    ...createTestDeps({ agents, script: () => ({}), keep: { journal } }),
    tools: createToolHost({ tools: [lookup, createRecallTool({ journal, blobs })], blobs, outputBytesMax: 1_000 }),
    models: {
      ...models,
      call(asked: Parameters<typeof models.call>[0], options: Parameters<typeof models.call>[1]) {
        if (!asked.origin.purpose) read.set(`${asked.origin.agent}/${asked.origin.step}`, asked.messages);
        return models.call(asked, options);
      },
    },
  };
  const host = createActorHost({ deps });
  onTestFinished(() => host.stop({ graceMs: 50 }));
  await host.start();
  const request: RunRequest = rootRequest({
    run: "0198a000-0000-7000-8000-000000000001",
    task: "look",
    model: "scripted/recall",
    limits: { maxContextTokens: 7_000, maxOutputTokens: 500 },
  });
  expect(await ask(deps, request)).toMatchObject({ status: "completed", details: "done" });
  return { read, entries: await entriesOf(deps, request) };
}
