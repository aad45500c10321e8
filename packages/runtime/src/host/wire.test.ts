/**
 * Within one process, too, a delegation is a message: a request goes over the queue and a response over the bus, both
 * as bytes that are checked where they arrive. Nothing is shared, nobody is called directly.
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
} from "./world.test-helper.ts";

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
const company: Script = ({ origin }) => {
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
function tap(world: TestDeps, afterwards: (bytes: Uint8Array) => void = () => {}): Wire {
  const wire: Wire = { offers: [], published: [] };
  const queue: TaskQueue = world.queue;
  const bus: Bus = world.bus;
  world.queue = {
    ...queue,
    async offer(task) {
      wire.offers.push({ run: task.run, bytes: copyOf(task.bytes) });
      const result = await queue.offer(task);
      afterwards(task.bytes);
      return result;
    },
  };
  world.bus = {
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

async function startHost(world: TestDeps, capacity = 4): Promise<ActorHost> {
  const host = createActorHost({ world, capacity });
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
        const said = lines.find((line) => line.message === message);
        if (said) resolve(said.details);
        else waiting.set(message, resolve);
      }),
  };
}

describe("what crosses", () => {
  it("is a request for every run and a response of every run, in bytes that fit their schemas", async () => {
    const world = createTestDeps({ agents, script: company });
    const wire = tap(world);
    await startHost(world);
    const request = rootRequest({ run });
    expect(await ask(world, request)).toMatchObject({ status: "completed" });

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

    // What a parent knows of a child is what was sent, to the letter.
    const entries = (await world.journal.readRun(request.session, run)).map(openEntry);
    const known = entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response] : []));
    expect(known).toHaveLength(3);
    for (const response of known) {
      expect(response).toEqual(settled.find((message) => message.run === response.runId)?.response);
    }
  });

  it("is the only way: a request that the queue swallows starts nothing, until it is offered again", async () => {
    const world = createTestDeps({ agents, script: company });
    const { queue } = world;
    const swallowed = Promise.withResolvers<Parameters<TaskQueue["offer"]>[0]>();
    world.queue = {
      ...queue,
      async offer(task) {
        if (task.agent !== "other") return queue.offer(task);
        swallowed.resolve(task);
        return "offered";
      },
    };
    await startHost(world);
    const request = rootRequest({ run });
    const answer = ask(world, request);
    const task = await swallowed.promise;
    expect(task.run).toBe(childRunId({ parentRun: run, step: 1, call: 1, attempt: 1 }));
    expect(await world.journal.readRun(request.session, task.run)).toEqual([]);
    await queue.offer(task);
    expect(await answer).toMatchObject({ status: "completed" });
  });

  it("may be lost: a response that the bus swallows is found in the journal", async () => {
    const world = createTestDeps({ agents, script: company });
    const { bus } = world;
    world.bus = {
      ...bus,
      publish(subject, bytes) {
        if (subject === world.subjects.settled(run) || !subject.includes(".settled.")) bus.publish(subject, bytes);
      },
    };
    // Only the look into the journal comes sooner: a deadline must not.
    const sooner = (delayMs: number): number => (delayMs > 10_000 ? delayMs : Math.min(delayMs, 5));
    world.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(world);
    expect(await ask(world, rootRequest({ run }))).toMatchObject({ status: "completed" });
  });
});

describe("what was handed over", () => {
  it("does not change with the sender's bytes", async () => {
    const world = createTestDeps({ agents, script: company });
    tap(world, (bytes) => bytes.fill(0));
    await startHost(world);
    const response = await ask(world, rootRequest({ run }));
    expect(response).toMatchObject({ status: "completed", details: "main is done" });
    expect(response.metrics.subtree.runs).toBe(5);
  });

  it("does not change with another receiver's bytes", async () => {
    const world = createTestDeps({ agents, script: company });
    await world.bus.subscribe(world.subjects.all.settled, ({ bytes }) => void bytes.fill(0));
    await startHost(world);
    expect(await ask(world, rootRequest({ run }))).toMatchObject({ status: "completed" });
  });

  it("does not change with the object that it was made of", async () => {
    const world = createTestDeps({ agents, script: ({ origin }) => ({ text: origin.task }) });
    const request = rootRequest({ run, task: "before" });
    await world.queue.offer({ run, agent: "main", place: "any", bytes: encode(request) });
    request.task = "after";
    const answer = ask(world, request);
    await startHost(world);
    expect(await answer).toMatchObject({ request: "before", details: "before" });
  });
});

const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const another = "0198a000-0000-7000-8000-00000000000f";

describe("a task that is no request", () => {
  it.each([
    { what: "no UTF-8", bytes: Uint8Array.of(0xff, 0xfe) },
    { what: "no JSON", bytes: text("to be or not to be") },
    { what: "of another shape", bytes: text('{"v":1,"run":"x"}') },
    { what: "for another run", bytes: encode(rootRequest({ run: another })) },
  ])("$what: is refused, and the host goes on", async ({ bytes }) => {
    const { logger, saying } = listeningLogger();
    const world = { ...createTestDeps({ agents, script: company }), logger };
    // With one slot, a slot that the refused task had kept would be missed.
    const host = await startHost(world, 1);
    const refused = "0198a000-0000-7000-8000-00000000000e";
    await world.queue.offer({ run: refused, agent: "main", place: "any", bytes });
    expect(await saying("task refused")).toMatchObject({
      run: refused,
      err: { code: "INVALID_MESSAGE" },
    });
    expect(await ask(world, rootRequest({ run }))).toMatchObject({ status: "completed" });
    expect(host.activeRuns()).toBe(0);
    expect((await world.journal.openRuns()).map((open) => open.run)).toEqual([]);
  });
});

describe("a message that is no response", () => {
  const settled = { v: 1, kind: "run.settled", session: another, run: another };
  it.each([
    { what: "no UTF-8", bytes: Uint8Array.of(0xff, 0xfe) },
    { what: "no JSON", bytes: text("to be or not to be") },
    { what: "of another shape", bytes: encode({ ...settled, response: { status: "completed" } }) },
    { what: "of another version", bytes: encode({ ...settled, v: 2, response: null }) },
    { what: "of nothing yet", bytes: encode({ ...settled, response: null }) },
  ])("$what: is refused, and the true one is still heard", async ({ bytes }) => {
    const atWork = Promise.withResolvers<string>();
    const gate = Promise.withResolvers<void>();
    const world = createTestDeps({
      agents,
      async script(request) {
        if (request.origin.agent !== "other") return company(request, new AbortController().signal);
        atWork.resolve(request.origin.run);
        await gate.promise;
        return { text: "the truth" };
      },
    });
    const host = await startHost(world);
    const request = rootRequest({ run });
    const answer = ask(world, request);
    world.bus.publish(world.subjects.settled(await atWork.promise), bytes);
    await world.bus.flush();
    gate.resolve();
    expect(await answer).toMatchObject({ status: "completed" });
    expect(await childResponses(world, request.session)).toContain("the truth");
    expect(host.activeRuns()).toBe(0);
  });

  it("but another run's: is refused, and the true one is still heard", async () => {
    const atWork = Promise.withResolvers<string>();
    const gate = Promise.withResolvers<void>();
    const world = createTestDeps({
      agents,
      async script(request) {
        if (request.origin.agent !== "other") return company(request, new AbortController().signal);
        atWork.resolve(request.origin.run);
        await gate.promise;
        return { text: "the truth" };
      },
    });
    const wire = tap(world);
    await startHost(world);
    const request = rootRequest({ run });
    const foreign = await ask(world, rootRequest({ run: another, agent: "tester", session: request.session }));
    expect(foreign.status).toBe("completed");
    const answer = ask(world, request);
    const child = await atWork.promise;
    const [stolen] = settledOn(wire);
    world.bus.publish(world.subjects.settled(child), encode({ ...stolen, run: child }));
    await world.bus.flush();
    gate.resolve();
    expect(await answer).toMatchObject({ status: "completed" });
    expect(await childResponses(world, request.session)).toContain("the truth");
  });
});

async function childResponses(world: TestDeps, session: string): Promise<string[]> {
  const entries = (await world.journal.readRun(session, run)).map(openEntry);
  return entries.flatMap((entry) => (entry.kind === "child.settled" ? [entry.response.details] : []));
}
