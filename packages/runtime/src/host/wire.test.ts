/**
 * Within one process, too, a delegation is a message: a request goes over the queue and a response over the bus, both
 * as bytes that are checked where they arrive. Nothing is shared, and no run calls another one directly.
 */

import type { Logger } from "@troupe/core";
import { type Bus, childRunId, LiveEvent, RunRequest, type TaskQueue } from "@troupe/core";
import { decode, encode, openEntry, SettledMessage } from "@troupe/core/internal";
import { afterEach, describe, expect, it } from "vitest";
import { type ActorHost, createActorHost } from "./actor-host.ts";
import {
  ask,
  createTestDeps,
  delegate,
  networkFailure,
  realClock,
  rootRequest,
  type Script,
  type TestDeps,
} from "./host-deps.test-helper.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const subagents = { deny: [], execution: "parallel" as const, max_concurrent: 5 };
const agents = [
  { id: "main", subagents: { ...subagents, allow: ["helper", "other"] } },
  {
    id: "helper",
    subagents: { ...subagents, allow: ["tester"] },
    retry: { maxAttempts: 2, backoffMs: 1, on: ["network" as const] },
  },
  { id: "tester" },
  { id: "other" },
];

/** main asks helper and other; helper loses the network once, then asks tester. */
const registry: Script = ({ origin }) => {
  const { agent, step, attempt } = origin;
  if (agent === "main" && step === 1) return { calls: [delegate("helper", "a"), delegate("other", "b")] };
  if (agent === "helper" && attempt === 1) throw networkFailure();
  if (agent === "helper" && step === 1) return { calls: [delegate("tester", "c")] };
  return { text: `${agent} is done` };
};

interface Crossing {
  subject: string;
  bytes: unknown;
}

interface Wire {
  offers: { run: string; bytes: unknown }[];
  published: Crossing[];
}

/** Looks at all that crosses; `afterwards` gets the sender's own bytes once they have been handed over. */
function tap(deps: TestDeps, afterwards: (bytes: Uint8Array) => void = () => {}): Wire {
  const wire: Wire = { offers: [], published: [] };
  const queue: TaskQueue = deps.queue;
  const bus: Bus = deps.bus;
  deps.queue = {
    ...queue,
    async offer(task) {
      wire.offers.push({ run: task.run, bytes: copyOf(task.bytes) });
      const result = await queue.offer(task);
      afterwards(task.bytes);
      return result;
    },
  };
  deps.bus = {
    ...bus,
    publish(subject, bytes) {
      wire.published.push({ subject, bytes: copyOf(bytes) });
      bus.publish(subject, bytes);
      afterwards(bytes);
    },
  };
  return wire;
}

/** Anything but bytes is kept as it is, for the test to find. */
function copyOf(bytes: unknown): unknown {
  return bytes instanceof Uint8Array ? new Uint8Array(bytes) : bytes;
}

function bytesOf(crossing: { bytes: unknown }): Uint8Array {
  expect(crossing.bytes).toBeInstanceOf(Uint8Array);
  return crossing.bytes as Uint8Array;
}

function settledOn(wire: Wire): SettledMessage[] {
  const settled = wire.published.filter(({ subject }) => subject.includes(".settled."));
  return settled.map((crossing) => decode(SettledMessage, bytesOf(crossing), "settled message"));
}

const hosts: ActorHost[] = [];

async function startHost(deps: TestDeps, capacity = 4): Promise<ActorHost> {
  const host = createActorHost({ deps, capacity });
  hosts.push(host);
  await host.start();
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

/** A logger whose lines can be waited for. */
function listeningLogger(): { logger: Logger; saying(word: string): Promise<object> } {
  const lines: { message: string; details: object }[] = [];
  const waiting = new Map<string, (details: object) => void>();
  const log = (details: object, message: string): void => {
    lines.push({ message, details });
    waiting.get(message)?.(details);
  };
  return {
    logger: { debug: log, info: log, warn: log, error: log },
    saying: (message) =>
      new Promise((resolve) => {
        const logged = lines.find((line) => line.message === message);
        if (logged) resolve(logged.details);
        else waiting.set(message, resolve);
      }),
  };
}

describe("a delegation", () => {
  it("is a request for every run and a response of every run, in bytes that fit their schemas", async () => {
    const deps = createTestDeps({ agents, script: registry });
    const wire = tap(deps);
    await startHost(deps);
    const request = rootRequest({ run });
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });

    const requests = wire.offers.map((offer) => decode(RunRequest, bytesOf(offer), "task"));
    expect(requests.map(({ agent, attempt }) => `${agent} ${attempt}`).sort()).toEqual([
      "helper 1",
      "helper 2",
      "main 1",
      "other 1",
      "tester 1",
    ]);
    expect(wire.offers.map((offer) => offer.run)).toEqual(requests.map((each) => each.run));

    const settled = settledOn(wire);
    expect(settled.map((message) => message.run).sort()).toEqual(requests.map((each) => each.run).sort());
    const others = wire.published.filter(({ subject }) => !subject.includes(".settled."));
    for (const crossing of others) decode(LiveEvent, bytesOf(crossing), crossing.subject);

    // The parent gets exactly the bytes of the response.
    const entries = (await deps.journal.readRun(request.session, run)).map(openEntry);
    const known = entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response] : []));
    expect(known).toHaveLength(3);
    for (const response of known) {
      expect(response).toEqual(settled.find((message) => message.run === response.runId)?.response);
    }
  });

  it("has no other path: a lost request starts nothing, until it is offered again", async () => {
    const deps = createTestDeps({ agents, script: registry });
    const { queue } = deps;
    const swallowed = Promise.withResolvers<Parameters<TaskQueue["offer"]>[0]>();
    deps.queue = {
      ...queue,
      async offer(task) {
        if (task.agent !== "other") return queue.offer(task);
        swallowed.resolve(task);
        return "offered";
      },
    };
    await startHost(deps);
    const request = rootRequest({ run });
    const answer = ask(deps, request);
    const task = await swallowed.promise;
    expect(task.run).toBe(childRunId({ parentRun: run, step: 1, call: 1, attempt: 1 }));
    expect(await deps.journal.readRun(request.session, task.run)).toEqual([]);
    await queue.offer(task);
    expect(await answer).toMatchObject({ status: "completed" });
  });

  it("survives a lost response, which is found in the journal", async () => {
    const deps = createTestDeps({ agents, script: registry });
    const { bus } = deps;
    deps.bus = {
      ...bus,
      publish(subject, bytes) {
        if (subject === deps.subjects.settled(run) || !subject.includes(".settled.")) bus.publish(subject, bytes);
      },
    };
    // Only the look into the journal comes sooner: a deadline must not.
    const sooner = (delayMs: number): number => (delayMs > 10_000 ? delayMs : Math.min(delayMs, 5));
    deps.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(deps);
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
  });
});

describe("an offered request", () => {
  it("does not change with the sender's bytes", async () => {
    const deps = createTestDeps({ agents, script: registry });
    tap(deps, (bytes) => bytes.fill(0));
    await startHost(deps);
    const response = await ask(deps, rootRequest({ run }));
    expect(response).toMatchObject({ status: "completed", details: "main is done" });
    expect(response.metrics.subtree.runs).toBe(5);
  });

  it("does not change with another receiver's bytes", async () => {
    const deps = createTestDeps({ agents, script: registry });
    await deps.bus.subscribe(deps.subjects.all.settled, ({ bytes }) => void bytes.fill(0));
    await startHost(deps);
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
  });

  it("does not change with the object that it was made of", async () => {
    const deps = createTestDeps({ agents, script: ({ origin }) => ({ text: origin.task }) });
    const request = rootRequest({ run, task: "before" });
    await deps.queue.offer({ run, agent: "main", locality: "any", bytes: encode(request) });
    request.task = "after";
    const answer = ask(deps, request);
    await startHost(deps);
    expect(await answer).toMatchObject({ request: "before", details: "before" });
  });
});

const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const another = "0198a000-0000-7000-8000-00000000000f";

describe("an invalid task", () => {
  it.each([
    { what: "no UTF-8", bytes: Uint8Array.of(0xff, 0xfe) },
    { what: "no JSON", bytes: text("to be or not to be") },
    { what: "with another schema", bytes: text('{"v":1,"run":"x"}') },
    { what: "for another run", bytes: encode(rootRequest({ run: another })) },
  ])("$what: is refused, and the host continues", async ({ bytes }) => {
    const { logger, saying } = listeningLogger();
    const deps = { ...createTestDeps({ agents, script: registry }), logger };
    // With one slot, a slot that the refused task had kept would be missed.
    const host = await startHost(deps, 1);
    const refused = "0198a000-0000-7000-8000-00000000000e";
    await deps.queue.offer({ run: refused, agent: "main", locality: "any", bytes });
    expect(await saying("task refused")).toMatchObject({
      run: refused,
      err: { code: "INVALID_MESSAGE" },
    });
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
    expect(host.activeRuns()).toBe(0);
    expect((await deps.journal.openRuns()).map((open) => open.run)).toEqual([]);
  });
});

describe("an invalid response", () => {
  const settled = { v: 1, kind: "run.settled", session: another, run: another };
  it.each([
    { what: "no UTF-8", bytes: Uint8Array.of(0xff, 0xfe) },
    { what: "no JSON", bytes: text("to be or not to be") },
    { what: "with another schema", bytes: encode({ ...settled, response: { status: "completed" } }) },
    { what: "of another version", bytes: encode({ ...settled, v: 2, response: null }) },
    { what: "for a run that has not started", bytes: encode({ ...settled, response: null }) },
  ])("$what: is refused, and the valid one is still received", async ({ bytes }) => {
    const atWork = Promise.withResolvers<string>();
    const gate = Promise.withResolvers<void>();
    const deps = createTestDeps({
      agents,
      async script(request) {
        if (request.origin.agent !== "other") return registry(request, new AbortController().signal);
        atWork.resolve(request.origin.run);
        await gate.promise;
        return { text: "the truth" };
      },
    });
    const host = await startHost(deps);
    const request = rootRequest({ run });
    const answer = ask(deps, request);
    deps.bus.publish(deps.subjects.settled(await atWork.promise), bytes);
    await deps.bus.flush();
    gate.resolve();
    expect(await answer).toMatchObject({ status: "completed" });
    expect(await childResponses(deps, request.session)).toContain("the truth");
    expect(host.activeRuns()).toBe(0);
  });

  it("of another run: is refused, and the valid one is still received", async () => {
    const atWork = Promise.withResolvers<string>();
    const gate = Promise.withResolvers<void>();
    const deps = createTestDeps({
      agents,
      async script(request) {
        if (request.origin.agent !== "other") return registry(request, new AbortController().signal);
        atWork.resolve(request.origin.run);
        await gate.promise;
        return { text: "the truth" };
      },
    });
    const wire = tap(deps);
    await startHost(deps);
    const request = rootRequest({ run });
    const foreign = await ask(deps, rootRequest({ run: another, agent: "tester", session: request.session }));
    expect(foreign.status).toBe("completed");
    const answer = ask(deps, request);
    const child = await atWork.promise;
    const [stolen] = settledOn(wire);
    deps.bus.publish(deps.subjects.settled(child), encode({ ...stolen, run: child }));
    await deps.bus.flush();
    gate.resolve();
    expect(await answer).toMatchObject({ status: "completed" });
    expect(await childResponses(deps, request.session)).toContain("the truth");
  });
});

async function childResponses(deps: TestDeps, session: string): Promise<string[]> {
  const entries = (await deps.journal.readRun(session, run)).map(openEntry);
  return entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response.details] : []));
}
