/** Tests an embedded troupe: its parts, and the state that it leaves for its next start. */
import { type Journal, type ModelProvider, type ModelRequest, RunRequest } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { createMemoryJournal, createSimulatedClock } from "@troupe/core/memory";
import { createToolHost, defineTool } from "@troupe/tools";
import { expect, it } from "vitest";
import { z } from "zod";
import { ask, rootRequest } from "../../packages/runtime/src/host/host-deps.test-helper.ts";
import { createEmbeddedHost, type EmbeddedHostOptions } from "../../packages/troupe/src/embedded-host.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const laterRun = "0198a000-0000-7000-8000-000000000002";
const main = { id: "main", description: "does it", prompt: "You do it." };

function saying(text: string, asked: ModelRequest[] = []): ModelProvider {
  const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, costUsd: 0 };
  return {
    id: "test",
    priceOf: async () => null,
    async call(request) {
      asked.push(request);
      return { text, calls: [], usage, stopReason: "end", model: "test/model" };
    },
  };
}

function embedded(options: Partial<EmbeddedHostOptions> = {}) {
  const journal = createMemoryJournal();
  return createEmbeddedHost({ journal, models: saying("done"), agents: [main], ...options });
}

async function openingOf(journal: Journal, request: RunRequest) {
  const [text = ""] = await journal.readRun(request.session, request.run);
  const entry = openEntry(text);
  return entry.kind === "run.opened" ? entry : null;
}

const look = defineTool({
  name: "look",
  description: "looks",
  input: z.strictObject({}),
  risk: "low",
  effect: "read",
  run: async () => ({ output: "seen" }),
});

it.each<[string, Partial<EmbeddedHostOptions>, string[]]>([
  ["none", {}, []],
  ["tools", { tools: [look] }, ["look"]],
  ["a tool host", { tools: createToolHost({ tools: [look] }) }, ["look"]],
])("runs an agent with %s", async (_, options, tools) => {
  const { deps, start, stop } = embedded({ hostId: "mine", ...options });
  await start();
  const request = rootRequest({ run });
  expect(await ask(deps, request)).toMatchObject({ status: "completed", summary: "done" });
  const opened = await openingOf(deps.journal, request);
  expect(opened).toMatchObject({ host: "mine", pin: { grant: { tools }, definition: { name: "main" } } });
  await stop();
});

it("agents from a source can run", async () => {
  const registry = await embedded().deps.agentSource.load(null);
  const { deps, start, stop } = createEmbeddedHost({
    journal: createMemoryJournal(),
    models: saying("done"),
    agentSource: { load: async () => registry },
  });
  await start();
  expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
  await stop();
});

it.each<[Partial<EmbeddedHostOptions>, string]>([
  [{ agents: undefined as never }, "it has no agents"],
  [{ agentSource: { load: () => Promise.reject(new Error("unused")) } }, "both agents and agentSource are set"],
  [{ agents: [main, main] }, 'two agents are called "main"'],
  [{ agents: [{ ...main, id: "no name" }] }, 'the agent "no name" cannot be used'],
])("%j is refused", (options, message) => {
  expect(() => embedded(options)).toThrow(message);
});

const schema = { type: "object" };
it.each([
  ["the request asks for", { outputSchema: schema }, {}],
  ["the definition asks for", {}, { outputSchema: schema }],
])("a prompt has the answer format that %s", async (_, request, changes) => {
  const asked: ModelRequest[] = [];
  const { deps, start, stop } = embedded({ agents: [{ ...main, ...changes }], models: saying("{}", asked) });
  await start();
  expect(await ask(deps, rootRequest({ run, ...request }))).toMatchObject({ status: "completed", data: {} });
  expect(asked[0]?.system).toMatch(/^You do it\.\n\n.*JSON Schema.*\n\n\{"type":"object"\}$/);
  await stop();
});

it("a prompt without an output schema is unchanged", async () => {
  const asked: ModelRequest[] = [];
  const { deps, start, stop } = embedded({ models: saying("done", asked) });
  await start();
  await ask(deps, rootRequest({ run }));
  expect(asked[0]?.system).toBe("You do it.");
  await stop();
});

it.each([
  [undefined, 1],
  [{ resume: true }, 1],
  [{ resume: false }, 0],
])("started with %j resumes %i run of an earlier process", async (options, count) => {
  const journal = createMemoryJournal();
  const request = RunRequest.parse(rootRequest({ run }));
  const { session } = request;
  await journal.appendInbox({ v: 1, kind: "session.requested", at: 0, session, request, origin: "api", demo: false });
  // Without time, nothing but what start has offered is ever taken.
  const { deps, start, stop } = embedded({ journal, clock: createSimulatedClock() });
  await start(options);
  // The queue is first in, first out.
  expect(await ask(deps, rootRequest({ run: laterRun }))).toMatchObject({ status: "completed" });
  await stop();
  expect((await journal.openRuns()).length).toBe(1 - count);
});

it("closes its own resources when it stops, and not the given ones", async () => {
  const { deps, start, stop } = embedded();
  await start();
  await stop();
  expect(() => deps.bus.publish("troupe.x", new Uint8Array())).toThrow(expect.objectContaining({ code: "CLOSED" }));
  const offer = { run, agent: "main", locality: "any", bytes: new Uint8Array() };
  await expect(deps.queue.offer(offer)).rejects.toMatchObject({ code: "CLOSED" });
  const { session } = rootRequest({ run });
  await expect(
    deps.journal.appendInbox({ v: 1, kind: "session.cancelled", at: 0, session, reason: "x" }),
  ).resolves.toEqual({ seq: 1 });
});

it("redacts the secrets that it gets", async () => {
  const key = "key-0123456789-abcdef";
  const { deps, start, stop } = embedded({ models: saying(`it is ${key}`), secrets: [key] });
  await start();
  const request = rootRequest({ run, task: `use ${key}, or {"x-api-key":"a1b2c3d4e5f6g7h8"}` });
  const response = await ask(deps, request);
  expect(response.summary).toBe("it is [redacted: a secret]");
  const entries = (await deps.journal.readRun(request.session, run)).join();
  expect(entries).not.toContain(key);
  expect(entries).not.toContain("a1b2c3d4e5f6g7h8");
  await stop();
});
