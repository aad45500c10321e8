/** Each port of a run: secrets are removed, and everything else passes unchanged. */
import { createRedactor, type Json, LiveEvent, type ModelReply, RunRequest } from "@troupe/core";
import { decode, encode, SettledMessage, type Thinking } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { createActorHost } from "../host/actor-host.ts";
import { ask, createTestDeps, entriesOf, rootRequest, toolCall } from "../host/host-deps.test-helper.ts";
import type { HostDeps } from "../host/host-deps.ts";
import { redactDeps } from "./redact-ports.ts";

const key = "key-0123456789-abcdef";
const mark = "[redacted: SHOP_KEY]";
const redact = createRedactor({
  values: [
    { name: "SHOP_KEY", value: key },
    { name: "WORD", value: "researcher" },
  ],
});
const run = "0198a000-0000-7000-8000-000000000001";

function depsOf(script: Parameters<typeof createTestDeps>[0]["script"] = () => ({ text: "done" })): HostDeps {
  return { ...createTestDeps({ agents: [{ id: "main" }, { id: "researcher" }], script }), redact };
}

async function entriesAfter(deps: HostDeps, request = rootRequest({ run })) {
  const host = createActorHost({ deps });
  await host.start();
  const response = await ask(deps, request);
  await host.stop({ graceMs: 0 });
  return { response, entries: await entriesOf(deps, request) };
}

const reply = (changes: Partial<ModelReply>) => (): Partial<ModelReply> => changes;

describe("the run is fed the stored entry", () => {
  it("a tool runs with the arguments in the journal", async () => {
    const ran: Json[] = [];
    const args = { text: `use ${key}`, deep: [{ [key]: key }] };
    const calls = [toolCall("echo", args)];
    const test = createTestDeps({
      agents: [{ id: "main" }],
      script: ({ origin }) => (origin.step === 1 ? { calls } : { text: "done" }),
      tools: {
        run: async (call) => {
          ran.push(call.args);
          return { ...emptyOutcome, output: `message ${key}` };
        },
      },
    });
    const { entries } = await entriesAfter({ ...test, redact });
    expect(ran).toEqual([{ text: `use ${mark}`, deep: [{ [mark]: mark }] }]);
    expect(JSON.stringify(entries)).not.toContain(key);
    expect(entries.find(({ kind }) => kind === "tool.finished")).toMatchObject({
      outcome: { output: `message ${mark}` },
    });
  });

  it("a request, a prompt and a response", async () => {
    const deps = depsOf(reply({ text: `it is ${key}` }));
    const { response, entries } = await entriesAfter(deps, rootRequest({ run, task: `use ${key}`, context: key }));
    expect(response.summary).toBe(`it is ${mark}`);
    expect(entries[0]).toMatchObject({ request: { task: `use ${mark}`, context: mark } });
    expect(JSON.stringify(entries)).not.toContain(key);
  });

  it("an agent's name stays even if a secret is the same word, so the journal stays readable", async () => {
    const { response, entries } = await entriesAfter(
      depsOf(),
      rootRequest({ run, agent: "researcher", task: "a researcher" }),
    );
    expect(response.agent).toBe("researcher");
    expect(entries[0]).toMatchObject({ request: { agent: "researcher", task: "a [redacted: WORD]" } });
  });

  it("without a redactor nothing changes", async () => {
    const { entries } = await entriesAfter(createTestDeps({ agents: [{ id: "main" }], script: reply({ text: key }) }));
    expect(JSON.stringify(entries)).toContain(key);
  });
});

describe("signed thinking blocks", () => {
  const thought = (thinking: string, textBefore = 0): Thinking => ({
    provider: "test",
    model: "model",
    textBefore,
    callsBefore: 0,
    block: { type: "thinking", thinking, signature: "s" },
  });
  const thoughtsAfter = async (message: Partial<ModelReply>) => {
    const { entries } = await entriesAfter(depsOf(reply(message)));
    const replied = entries.find((entry) => entry.kind === "model.replied");
    return replied?.kind === "model.replied" ? replied.reply.thinking : null;
  };

  it("are all dropped if one of the reply contains a secret", async () => {
    const thinking = [thought("harmless"), thought(`the key is ${key}`)];
    expect(await thoughtsAfter({ text: "done", thinking })).toBeUndefined();
  });

  it("stay, at their positions, if only the text contains a secret", async () => {
    const text = `a ${key} b`;
    const thinking = [thought("x"), thought("y", `a ${key}`.length), thought("z", text.length)];
    const places = [0, `a ${mark}`.length, `a ${mark} b`.length];
    expect(await thoughtsAfter({ text, thinking })).toEqual(
      thinking.map((each, i) => ({ ...each, textBefore: places[i] })),
    );
  });

  it("stay the same in a reply without secrets", async () => {
    expect(await thoughtsAfter({ text: "done", thinking: [thought("x", 2)] })).toEqual([thought("x", 2)]);
  });
});

describe("a port redacts", () => {
  const deps = redactDeps(depsOf());

  it("once, even if the ports are wrapped twice", () => {
    expect(redactDeps(deps)).toBe(deps);
  });

  it("an offer", async () => {
    const offer = (task: string) => encode(rootRequest({ run, task }));
    await deps.queue.offer({ run, agent: "main", locality: "any", bytes: offer(`use ${key}`) });
    const [task] = await deps.queue.take({ agents: "all", localities: "all", max: 1 });
    expect(decode(RunRequest, task?.bytes ?? new Uint8Array(), "task").task).toBe(`use ${mark}`);
  });

  it("a command", async () => {
    const { session } = rootRequest({ run });
    await deps.journal.appendInbox({ v: 1, kind: "run.steered", at: 1, session, run, text: `use ${key}`, by: key });
    const [item] = await deps.journal.readInbox(session);
    expect(item?.item).toMatchObject({ text: `use ${mark}`, by: mark });
  });

  it.each([
    ["a live event", { kind: "tool.started", agent: "researcher", tool: "shell", detail: `echo ${key}` }, LiveEvent],
    ["a response", { kind: "run.settled", response: null, note: key }, SettledMessage],
  ])("a message: %s", async (_, fields, schema) => {
    const received: string[] = [];
    const { session } = rootRequest({ run });
    await deps.bus.subscribe("secrets", ({ bytes }) => received.push(new TextDecoder().decode(bytes)));
    const message = { v: 1, session, run, ...fields };
    deps.bus.publish("secrets", encode(message));
    deps.bus.publish("secrets", encode({ ...message, detail: "none", note: "none" }));
    await deps.bus.flush();
    expect(received.join()).not.toContain(key);
    expect(received).toHaveLength(2);
    expect(received[0]).toContain(mark);
    for (const text of received) expect(schema.safeParse(JSON.parse(text)).success).toBe(true);
  });

  it("a request over the bus", async () => {
    await deps.bus.subscribe("questions", ({ bytes, respond }) => respond(bytes));
    const answer = await deps.bus.request("questions", new TextEncoder().encode(`no JSON: ${key}`), {
      timeoutMs: 1_000,
    });
    expect(new TextDecoder().decode(answer)).toBe(`no JSON: ${mark}`);
  });

  it("text deltas, split at any point", async () => {
    const text = `the key is ${key}, as you know`;
    for (const length of [1, 2, 7, text.length]) {
      const pieces = text.match(new RegExp(`.{1,${length}}`, "g")) ?? [];
      const base = depsOf();
      const models: HostDeps["models"] = {
        ...base.models,
        async call(request, options) {
          for (const piece of pieces) options.onDelta(piece);
          return base.models.call(request, options);
        },
      };
      const shown: string[] = [];
      const { session } = rootRequest({ run });
      await base.bus.subscribe(base.subjects.live(session, run), ({ bytes }) => {
        const event = decode(LiveEvent, bytes, "live");
        if (event.kind === "text.delta") shown.push(event.text);
      });
      await entriesAfter({ ...base, models });
      expect(shown.join("")).toBe(`the key is ${mark}, as you know`);
    }
  });

  it("a log line with errors and their causes", () => {
    const lines: unknown[] = [];
    const note = (details: object, message: string): void => void lines.push({ ...details, message });
    const logger = { debug: note, info: note, warn: note, error: note };
    const quiet = redactDeps({ redact, logger }).logger;
    const cause = Object.assign(new Error(`401 for ${key}`), { headers: { authorization: key }, status: 401 });
    const err = new Error("it failed", { cause });
    quiet.error({ err, session: "s", args: [key] }, `failed with ${key}`);
    const [line] = lines as [
      { err: Error & { cause: Error & Record<string, unknown> }; args: unknown; message: string },
    ];
    expect(line.err.cause.message).toBe(`401 for ${mark}`);
    expect(line.err.cause).toMatchObject({ headers: { authorization: mark }, status: 401 });
    expect(`${line.err.stack} ${line.err.cause.stack} ${JSON.stringify(line)}`).not.toContain(key);
    expect(line.message).toBe(`failed with ${mark}`);

    const harmless = new Error("it failed");
    quiet.warn({ err: harmless }, "failed");
    expect((lines[1] as { err: Error }).err).toBe(harmless);
  });
});

const emptyOutcome = {
  changes: [],
  seen: [],
  tests: null,
  artifacts: [],
  error: null,
  inDoubt: false,
  filesCreated: [],
  filesModified: [],
  outputRef: null,
  durationMs: 0,
};
