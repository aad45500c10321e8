/**
 * A run whose results outgrow its context, over a real host and the scripted provider: the journal shows in which order
 * the conversation was compacted, and wherever a host dies, the next one continues with the same conversation.
 */
import type { Entry, Message, ModelRequest, RunRequest } from "@troupe/core";
import { createMemoryBlobs, createMemoryJournal } from "@troupe/core/memory";
import { createScriptedProvider, parseScenario } from "@troupe/models";
import { createRecallTool, createToolHost, defineTool } from "@troupe/tools";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { type ActorHost, createActorHost } from "./actor-host.ts";
import { ask, createTestDeps, entriesOf, realClock, rootRequest, type TestDeps } from "./host-deps.test-helper.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({
  run,
  task: "look everything up",
  model: "scripted/room",
  limits: { maxContextTokens: 4_000, maxOutputTokens: 1_000 },
});

const lookups = [1, 2, 3, 4].map((page) => `{ calls: [{ tool: lookup, args: { page: ${page}, size: 1500 } }] }`);
const musings = [1, 2, 3, 4, 5, 6].map(
  (page) => `{ text: "${"hm ".repeat(300)}", calls: [{ tool: lookup, args: { page: ${page}, size: 20 } }] }`,
);
const scenario = parseScenario(
  `
name: room
description: Its results outgrow its context.
agents:
  main:
    - summary: { text: "## Found out\\npage 1 says 1" }
      steps:
        - ${lookups.join("\n        - ")}
        - { text: "once more", calls: [{ tool: recall, args: { result: "1/0" } }] }
        - ${musings.join("\n        - ")}
        - text: "more pages"
          calls:
            - { tool: lookup, args: { page: 9, size: 12000 } }
            - { tool: lookup, args: { page: 8, size: 12000 } }
            - { tool: lookup, args: { page: 7, size: 12000 } }
            - { tool: lookup, args: { page: 6, size: 12000 } }
            - { tool: lookup, args: { page: 5, size: 12000 } }
            - { tool: lookup, args: { page: 4, size: 12000 } }
        - { text: "never said" }
`,
  "room.yaml",
);

const lookupTool = defineTool({
  name: "lookup",
  description: "Looks a page up.",
  input: z.strictObject({ page: z.int(), size: z.int() }),
  risk: "low",
  effect: "read",
  run: async ({ page, size }) => ({ output: `${page}`.repeat(size) }),
});

interface Observed {
  deps: TestDeps;
  /** The messages of the model, by step. */
  read: Map<number, readonly Message[]>;
  /** The questions beside its turns. */
  asides: ModelRequest[];
}

const hosts: ActorHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

async function startHost(journal = createMemoryJournal()): Promise<Observed> {
  const models = createScriptedProvider({ load: async () => scenario, clock: realClock });
  const recall = createRecallTool({ journal, blobs: createMemoryBlobs() });
  const read: Observed["read"] = new Map();
  const asides: ModelRequest[] = [];
  const inMemory = createTestDeps({ agents: [{ id: "main" }], script: () => ({}), keep: { journal } });
  const deps: TestDeps = {
    ...inMemory,
    tools: createToolHost({ tools: [lookupTool, recall] }),
    models: {
      ...models,
      call(asked, options) {
        if (asked.origin.purpose) asides.push(asked);
        else read.set(asked.origin.step, asked.messages);
        return models.call(asked, options);
      },
    },
  };
  const host = createActorHost({ deps });
  hosts.push(host);
  await host.start();
  return { deps, read, asides };
}

const kindsOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ kind }) => (kind.startsWith("context.") || kind === "run.settled" ? [kind] : []));

test("references replace results first, then a summary replaces the history, then the run bails out", async () => {
  const { deps, read, asides } = await startHost();
  const response = await ask(deps, request);
  expect(response).toMatchObject({
    status: "bailed_out",
    bailoutReason: "max_context",
    details: "more pages",
    metrics: { iterations: 12, contextSize: expect.any(Number) },
  });
  expect(response.metrics.contextSize).toBeGreaterThan(4_000);

  const entries = await entriesOf(deps, request);
  // The lookups, then the recalled results.
  expect(kindsOf(entries)).toEqual(["context.trimmed", "context.trimmed", "context.compacted", "run.settled"]);
  const trimmed = entries.find((entry) => entry.kind === "context.trimmed");
  const compacted = entries.find((entry) => entry.kind === "context.compacted");
  if (trimmed?.kind !== "context.trimmed" || compacted?.kind !== "context.compacted") throw new Error("not there");

  const before = read.get(trimmed.step - 1) ?? [];
  const after = read.get(trimmed.step) ?? [];
  expect(before.filter(({ text }) => text.startsWith("[taken out"))).toHaveLength(0);
  expect(after.filter(({ text }) => text.startsWith("[taken out"))).toHaveLength(trimmed.results.length);
  expect(trimmed.results).toContain("1/0");
  expect(trimmed.tokensAfter).toBeLessThan(trimmed.tokensBefore / 2);

  expect(asides.map(({ origin }) => [origin.purpose, origin.step])).toEqual([["summary", compacted.step]]);
  expect(read.get(compacted.step)?.slice(0, 2)).toEqual([
    { role: "user", text: "look everything up" },
    { role: "user", text: expect.stringContaining("## Found out\npage 1 says 1") },
  ]);
  expect(compacted).toMatchObject({ text: "## Found out\npage 1 says 1", error: null });
  const { inputTokens, outputTokens } = compacted.usage;
  const turns = entries.flatMap((entry) => (entry.kind === "model.replied" ? [entry.reply.usage] : []));
  const sum = turns.reduce(
    (total, usage) => total + usage.inputTokens + usage.outputTokens,
    inputTokens + outputTokens,
  );
  expect(response.metrics.totalTokens).toBe(sum);
});

test("a replaced result is recalled word for word", async () => {
  const { deps, read } = await startHost();
  await ask(deps, request);
  const [first] = await entriesOf(deps, request).then((entries) =>
    entries.flatMap((entry) => (entry.kind === "tool.finished" ? [entry.outcome.output] : [])),
  );
  const asked = read.get(6) ?? [];
  const recalled = asked.findLast((message) => message.role === "tool" && message.name === "recall");
  expect(asked.find((message) => message.role === "tool")?.text).toContain("[taken out");
  expect(recalled?.text).toBe("1".repeat(1_500));
  expect(recalled?.text).toBe(first);
});

test("a host that dies at any point leaves the same conversation to the next one", async () => {
  const whole = await startHost();
  const response = await ask(whole.deps, request);
  const entries = await entriesOf(whole.deps, request);
  const texts = await whole.deps.journal.readRun(request.session, run);
  let compared = 0;
  for (let count = 1; count < entries.length; count += 1) {
    const again = await startHost(await journalOf(request, entries, texts, count));
    const second = await ask(again.deps, request);
    expect(second).toMatchObject({ status: response.status, bailoutReason: response.bailoutReason });
    for (const [step, messages] of again.read) expect([step, messages]).toEqual([step, whole.read.get(step)]);
    compared += again.read.size;
    const told = kindsOf(await entriesOf(again.deps, request));
    expect([count, told]).toEqual([count, kindsOf(entries)]);
  }
  // On average, each host that continues calls the model several times.
  expect(compared).toBeGreaterThan(2 * entries.length);
});

/** A journal as a host would leave it that died after so many entries. */
async function journalOf({ session }: RunRequest, entries: readonly Entry[], texts: readonly string[], count: number) {
  const journal = createMemoryJournal();
  const sealed = entries.slice(0, count).map(({ index, hash }, place) => ({ index, hash, text: texts[place] ?? "" }));
  await journal.append({ session, run, after: -1, entries: sealed, terminal: false });
  return journal;
}
