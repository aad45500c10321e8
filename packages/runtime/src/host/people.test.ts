/**
 * People come and go: what they are asked waits for them outside of memory, what they say reaches the runs that it is
 * about, wherever those are by then, and the time that they take is nobody's.
 */
import { childRunId, decode, type Entry, type InboxItem, LiveEvent, type RunRequest } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, it } from "vitest";
import { type ActorHost, createActorHost } from "./actor-host.ts";
import { recoverOpenRuns } from "./recover.ts";
import { sendWish } from "./wake.ts";
import {
  ask,
  createTestWorld,
  delegate,
  endsWith,
  entriesOf,
  entriesOnce,
  realClock,
  rootRequest,
  type Script,
  type TestWorld,
  toolCall,
} from "./world.test-helper.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({ run });
const { session } = request;
const agents = [
  { id: "main", subagents: { allow: ["helper", "other"] } },
  { id: "helper", subagents: { allow: ["tester"] } },
  { id: "tester" },
  { id: "other" },
];
const hosts: ActorHost[] = [];

async function startHost(world: TestWorld): Promise<ActorHost> {
  const host = createActorHost({ world, capacity: 4 });
  hosts.push(host);
  await host.start();
  return host;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

/** The next process on the same journal. */
function afterRestart(before: TestWorld, script: Script): TestWorld {
  return createTestWorld({ agents, script, keep: before });
}

const head = { v: 1 as const, at: 1, session };
const by = "a person";

function answerTo(entries: readonly Entry[], approved: boolean, scope: "once" | "run" = "once"): InboxItem {
  const asked = entries.findLast((entry) => entry.kind === "approval.requested");
  if (asked?.kind !== "approval.requested") throw new Error("nobody was asked");
  return {
    ...head,
    kind: "approval.answered",
    run: asked.run,
    approval: asked.approval.id,
    approved,
    scope,
    reason: null,
    by,
  };
}

const allowed = { decision: "allow" as const, risk: "low" as const, reason: "allowed" };

const kinds = (entries: readonly Entry[]): string[] => entries.map(({ kind }) => kind);

/** The one child that the root has planned by now. */
async function childOf(world: TestWorld, parent: Pick<RunRequest, "run"> = request, place = 0) {
  const entries = await entriesOnce(world, { session, run: parent.run }, (all) =>
    all.some((entry) => entry.kind === "calls.planned" && entry.children.length > place),
  );
  const planned = entries.find((entry) => entry.kind === "calls.planned");
  if (planned?.kind !== "calls.planned") throw new Error("no child was planned");
  return { session, run: planned.children[place]?.run ?? "" };
}

/** main deploys, then says what it was told. */
const deploying: Script = ({ origin, messages }) =>
  origin.step === 1 ? { calls: [toolCall("deploy", { to: "prod" })] } : { text: messages.at(-1)?.text ?? "" };

/** main asks helper, which deploys. */
const delegating: Script = (question, signal) => {
  const { agent, step } = question.origin;
  if (agent !== "main") return deploying(question, signal);
  return step === 1 ? { calls: [delegate("helper", "deploy it")] } : { text: "all done" };
};

describe("a call that a person has to allow", () => {
  it("leaves memory, outlives its host, and goes on with the answer", async () => {
    const before = createTestWorld({ agents, script: deploying });
    const lost = await startHost(before);
    void ask(before, request);
    const asked = await entriesOnce(before, request, endsWith("run.parked"));
    expect(kinds(asked)).toEqual(["run.opened", "model.replied", "approval.requested", "run.parked"]);
    expect(asked.at(-1)).toMatchObject({ reason: "approval" });
    expect(lost.activeRuns()).toBe(0);
    expect(before.toolCalls).toEqual([]);

    const after = afterRestart(before, deploying);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([]);
    const answer = answered(after);
    await sendWish(after, answerTo(asked, true));
    expect(await answer).toMatchObject({ status: "completed", toolsUsed: ["deploy"], details: 'echo {"to":"prod"}' });
    expect(after.toolCalls).toEqual([`${run}/1/0`]);
    expect(kinds(await entriesOf(after, request)).slice(4, 8)).toEqual([
      "run.claimed",
      "inbox.received",
      "tool.started",
      "tool.finished",
    ]);
  });

  it("is offered at the next start where it was answered while nobody was there", async () => {
    const before = createTestWorld({ agents, script: deploying });
    await startHost(before);
    void ask(before, request);
    const asked = await entriesOnce(before, request, endsWith("run.parked"));
    await before.journal.appendInbox(answerTo(asked, true));

    const after = afterRestart(before, deploying);
    await startHost(after);
    const answer = answered(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    expect(await answer).toMatchObject({ status: "completed" });
  });

  it("is not run when it is denied, and the model hears why", async () => {
    const world = createTestWorld({ agents, script: deploying });
    await startHost(world);
    const response = ask(world, request);
    const asked = await entriesOnce(world, request, endsWith("run.parked"));
    await sendWish(world, answerTo(asked, false));
    expect(await response).toMatchObject({
      status: "completed",
      details: expect.stringContaining("denied by a person"),
    });
    expect(world.toolCalls).toEqual([]);
  });

  it("does not keep its siblings from being made, and leaves memory only after them", async () => {
    const gate = Promise.withResolvers<void>();
    const script: Script = ({ origin }) =>
      origin.step === 1 ? { calls: [toolCall("deploy"), toolCall("echo")] } : { text: "done" };
    const world = createTestWorld({ agents, script });
    const tools = world.tools;
    world.tools = {
      ...tools,
      async run(call, context) {
        if (call.name === "echo") await gate.promise;
        return await tools.run(call, context);
      },
    };
    await startHost(world);
    const response = ask(world, request);
    const asked = await entriesOnce(world, request, endsWith("approval.requested"));
    gate.resolve();
    const parked = await entriesOnce(world, request, endsWith("run.parked"));
    expect(kinds(parked).slice(-3)).toEqual(["approval.requested", "tool.finished", "run.parked"]);
    await sendWish(world, answerTo(asked, true));
    expect(await response).toMatchObject({ status: "completed" });
    expect(world.toolCalls.sort()).toEqual([`${run}/1/0`, `${run}/1/1`]);
  });

  it("is allowed for the rest of its run where the answer says so", async () => {
    const script: Script = ({ origin }) =>
      origin.step < 3 ? { calls: [toolCall("deploy", { to: origin.step })] } : { text: "done" };
    const world = createTestWorld({ agents, script });
    await startHost(world);
    const response = ask(world, request);
    const asked = await entriesOnce(world, request, endsWith("run.parked"));
    await sendWish(world, answerTo(asked, true, "run"));
    expect(await response).toMatchObject({ status: "completed" });
    expect(world.toolCalls).toEqual([`${run}/1/0`, `${run}/2/0`]);
  });

  it("hears an answer that comes while its run is on its way out", async () => {
    const world = createTestWorld({ agents, script: deploying });
    const { journal } = world;
    world.journal = {
      ...journal,
      async append(append) {
        const result = await journal.append(append);
        // Too late for the run, which has parked; too early for whoever said it to find a task that can be offered.
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await journal.appendInbox(answerTo(await entriesOf(world, request), true));
        }
        return result;
      },
    };
    await startHost(world);
    expect(await ask(world, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
  });

  it("hears an answer that it has taken in too late to write it down", async () => {
    const world = createTestWorld({ agents, script: deploying });
    const { journal } = world;
    world.journal = {
      ...journal,
      async append(append) {
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await sendWish(world, answerTo(await entriesOf(world, request), true));
          await new Promise((resolve) => setImmediate(resolve));
        }
        return await journal.append(append);
      },
    };
    await startHost(world);
    expect(await ask(world, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
    // It was on its way out: what it had heard is written down by whoever takes it up.
    const entries = kinds(await entriesOf(world, request));
    expect(entries.slice(3, 6)).toEqual(["run.parked", "run.claimed", "inbox.received"]);
  });

  it("is looked for again where the inbox could not be read after it had parked", async () => {
    const world = createTestWorld({ agents, script: deploying });
    const { journal } = world;
    let failures = 0;
    world.journal = {
      ...journal,
      async append(append) {
        const result = await journal.append(append);
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await journal.appendInbox(answerTo(await entriesOf(world, request), true));
          failures = 1;
        }
        return result;
      },
      readInbox: (of, after) => (failures-- > 0 ? Promise.reject(new Error("EIO")) : journal.readInbox(of, after)),
    };
    const sooner = (delayMs: number): number => (delayMs > 4_000 ? delayMs : Math.min(delayMs, 5));
    world.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(world);
    expect(await ask(world, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
  });

  it("takes no time from its run, nor from those that wait for it", async () => {
    const world = createTestWorld({ agents, script: delegating });
    const clock = createSimulatedClock(1_000);
    world.clock = clock;
    await startHost(world);
    const response = ask(world, request);
    const child = await childOf(world);
    const asked = await entriesOnce(world, child, endsWith("run.parked"));
    await entriesOnce(world, request, endsWith("child.waiting"));
    clock.advance(600_000);
    await sendWish(world, answerTo(asked, true));
    const settled = await response;
    expect(settled).toMatchObject({ status: "completed", details: "all done" });
    expect(settled.metrics.waitedMs).toBe(600_000);
    const waits = (await entriesOf(world, request)).filter((entry) => entry.kind === "child.waiting");
    expect(waits).toMatchObject([{ waiting: true }, { waiting: false }]);
  });

  it("is not woken for nothing when those above it go on after a restart", async () => {
    const before = createTestWorld({ agents, script: delegating });
    await startHost(before);
    void ask(before, request);
    const child = await childOf(before);
    const asked = await entriesOnce(before, child, endsWith("run.parked"));
    await entriesOnce(before, request, endsWith("child.waiting"));

    const after = afterRestart(before, delegating);
    const host = await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    await entriesOnce(after, request, endsWith("run.claimed"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.activeRuns()).toBe(1);
    expect(await entriesOf(after, child)).toHaveLength(asked.length);
    const answer = answered(after);
    await sendWish(after, answerTo(asked, true));
    expect(await answer).toMatchObject({ status: "completed", details: "all done" });
    const waits = (await entriesOf(after, request)).filter((entry) => entry.kind === "child.waiting");
    expect(waits).toMatchObject([{ waiting: true }, { waiting: false }]);
  });

  it("waits for its answer, and not for the next start, where it was asked while its host was being stopped", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      reached.resolve();
      await gate.promise;
      return await deploying(question, signal);
    };
    const world = createTestWorld({ agents, script });
    const { tools } = world;
    world.tools = {
      ...tools,
      assess(call, context) {
        const verdict = tools.assess(call, context);
        void host.stop({ graceMs: 5_000 });
        return verdict;
      },
    };
    const host = await startHost(world);
    void ask(world, request);
    await reached.promise;
    gate.resolve();
    const parked = await entriesOnce(world, request, endsWith("run.parked"));
    expect(parked.at(-1)).toMatchObject({ reason: "approval" });
  });

  it("is all that is ever said to be waited for", async () => {
    const said: unknown[] = [];
    const world = createTestWorld({ agents, script: delegating, tools: { assess: () => allowed } });
    await world.bus.subscribe(world.subjects.all.live, ({ bytes }) => {
      const event = decode(LiveEvent, bytes, "live event");
      if (event.kind === "run.waiting") said.push(event);
    });
    await startHost(world);
    expect(await ask(world, request)).toMatchObject({ status: "completed" });
    expect(said).toEqual([]);
  });

  it("is known to wait by its journal where the word of it was lost", async () => {
    const world = createTestWorld({ agents, script: delegating });
    const { bus } = world;
    world.bus = {
      ...bus,
      publish(subject, bytes) {
        if (!new TextDecoder().decode(bytes).includes('"kind":"run.waiting"')) bus.publish(subject, bytes);
      },
    };
    const sooner = (delayMs: number): number => (delayMs > 10_000 ? delayMs : Math.min(delayMs, 5));
    world.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(world);
    const response = ask(world, request);
    const child = await childOf(world);
    const asked = await entriesOnce(world, child, endsWith("run.parked"));
    await entriesOnce(world, request, endsWith("child.waiting"));
    await sendWish(world, answerTo(asked, true));
    expect(await response).toMatchObject({ status: "completed" });
  });
});

describe("a run that is paused", () => {
  /** Every step of main calls a tool, the third answers. */
  const stepping: Script = ({ origin }) => (origin.step < 3 ? { calls: [toolCall("echo")] } : { text: "done" });
  const pause = (id = run): InboxItem => ({ ...head, kind: "run.paused", run: id, by });
  const resume = (id = run): InboxItem => ({ ...head, kind: "run.resumed", run: id, by });

  it("finishes what is at work, starts nothing more, leaves memory, and goes on when it is resumed", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      reached.resolve();
      await gate.promise;
      return await stepping(question, signal);
    };
    const before = createTestWorld({ agents, script });
    const lost = await startHost(before);
    void ask(before, request);
    await reached.promise;
    await sendWish(before, pause());
    await entriesOnce(before, request, endsWith("inbox.received"));
    gate.resolve();
    const parked = await entriesOnce(before, request, endsWith("run.parked"));
    expect(kinds(parked)).toEqual(["run.opened", "inbox.received", "model.replied", "run.parked"]);
    expect(parked.at(-1)).toMatchObject({ reason: "pause" });
    expect(before.toolCalls).toEqual([]);
    expect(lost.activeRuns()).toBe(0);

    const after = afterRestart(before, stepping);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([]);
    const answer = answered(after);
    await sendWish(after, resume());
    expect(await answer).toMatchObject({ status: "completed", details: "done" });
    expect(after.toolCalls).toEqual([`${run}/1/0`, `${run}/2/0`]);
  });

  it("pauses with all below it, and each goes on where it was", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      if (question.origin.agent === "main") return await delegating(question, signal);
      reached.resolve();
      await gate.promise;
      return await stepping(question, signal);
    };
    const world = createTestWorld({ agents, script });
    const host = await startHost(world);
    const response = ask(world, request);
    const child = await childOf(world);
    await reached.promise;
    await sendWish(world, pause());
    await entriesOnce(world, child, endsWith("inbox.received"));
    gate.resolve();
    await entriesOnce(world, child, endsWith("run.parked"));
    // Its parent waits for the child's response: that alone keeps it.
    expect(host.activeRuns()).toBe(1);
    await sendWish(world, resume());
    expect(await response).toMatchObject({ status: "completed", details: "all done" });
    expect(world.toolCalls).toEqual([`${child.run}/1/0`, `${child.run}/2/0`]);
  });

  it("does not pause those beside or above it", async () => {
    const world = createTestWorld({
      agents,
      script: ({ origin }) => {
        if (origin.agent !== "main") return { text: "did it" };
        return origin.step === 1 ? { calls: [delegate("helper", "a"), delegate("other", "b")] } : { text: "all done" };
      },
    });
    const held = childRunId({ parentRun: run, step: 1, call: 0, attempt: 1 });
    await world.journal.appendInbox(pause(held));
    await startHost(world);
    const response = ask(world, request);
    const parked = await entriesOnce(world, { session, run: held }, endsWith("run.parked"));
    // Paused before it began: not a word was asked of its model.
    expect(kinds(parked)).toEqual(["run.opened", "inbox.received", "run.parked"]);
    await entriesOnce(world, request, (all) => all.some(({ kind }) => kind === "child.settled"));
    await sendWish(world, resume(held));
    expect(await response).toMatchObject({ status: "completed" });
    expect(world.modelCalls.sort()).toEqual(["helper/1/1", "main/1/1", "main/1/2", "other/1/1"]);
  });

  it("asks its model nothing more, though nobody has announced it", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async ({ origin }) => {
      if (origin.agent === "main" && origin.step === 1) return { calls: [delegate("helper", "a")] };
      if (origin.agent !== "main") {
        reached.resolve();
        await gate.promise;
      }
      return { text: "done" };
    };
    const world = createTestWorld({ agents, script });
    await startHost(world);
    const response = ask(world, request);
    const child = await childOf(world);
    await reached.promise;
    // Said without being announced: the root hears of it when its next model call is about to be made.
    await world.journal.appendInbox(pause());
    await world.journal.appendInbox(resume(child.run));
    gate.resolve();
    const parked = await entriesOnce(world, request, endsWith("run.parked"));
    expect(kinds(parked).slice(-3)).toEqual(["child.settled", "inbox.received", "run.parked"]);
    expect(world.modelCalls).toEqual(["main/1/1", "helper/1/1"]);
    await sendWish(world, resume());
    expect(await response).toMatchObject({ status: "completed" });
  });
});

describe("a run that is paused before it could begin what it wants", () => {
  const pause: InboxItem = { ...head, kind: "run.paused", run, by };
  const resume: InboxItem = { ...head, kind: "run.resumed", run, by };

  it("begins it in memory, where something else keeps it there until it is resumed", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tasks = [
      { agent: "other", task: "quick" },
      { agent: "helper", task: "slow" },
    ];
    const script: Script = async ({ origin: { agent, step } }) => {
      if (agent === "main" && step === 1)
        return { calls: [toolCall("delegate", { tasks, mode: "parallel_streaming" })] };
      if (agent !== "main") await (agent === "other" ? first : second).promise;
      return { text: `${agent} is done` };
    };
    const world = createTestWorld({ agents, script });
    await startHost(world);
    const response = ask(world, request);
    await childOf(world, request, 1);
    await world.journal.appendInbox(pause);
    first.resolve();
    // Heard before its second model call, while one of its children is still at work.
    await entriesOnce(world, request, endsWith("inbox.received"));
    await sendWish(world, resume);
    await entriesOnce(world, request, (all) => kinds(all).filter((kind) => kind === "model.replied").length === 2);
    second.resolve();
    expect(await response).toMatchObject({ status: "completed", details: "main is done" });
    expect(kinds(await entriesOf(world, request))).not.toContain("run.parked");
  });

  it("does not repeat after a restart what was at work, until it is resumed", async () => {
    const reached = Promise.withResolvers<void>();
    const script: Script = ({ origin }) => (origin.step === 1 ? { calls: [toolCall("echo")] } : { text: "done" });
    const hanging = () => {
      reached.resolve();
      return new Promise<never>(() => {});
    };
    const before = createTestWorld({ agents, script, tools: { run: hanging } });
    const lost = createActorHost({ world: before });
    await lost.start();
    void ask(before, request);
    await reached.promise;
    await before.journal.appendInbox(pause);

    const after = afterRestart(before, script);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    const parked = await entriesOnce(after, request, endsWith("run.parked"));
    expect(parked.at(-1)).toMatchObject({ reason: "pause" });
    expect(after.toolCalls).toEqual([]);
    const answer = answered(after);
    await sendWish(after, resume);
    expect(await answer).toMatchObject({ status: "completed" });
    expect(after.toolCalls).toEqual([`${run}/1/0`]);
  });
});

describe("a run that is cancelled", () => {
  it("ends with all below it, woken where they were parked, and its parent goes on", async () => {
    const script: Script = (question, signal) => {
      const { agent, step } = question.origin;
      if (agent === "tester") return deploying(question, signal);
      const target = agent === "main" ? "helper" : "tester";
      return step === 1 ? { calls: [delegate(target, "go")] } : { text: "went on without" };
    };
    const world = createTestWorld({ agents, script });
    const host = await startHost(world);
    const response = ask(world, request);
    const child = await childOf(world);
    const grandchild = await childOf(world, child);
    await entriesOnce(world, grandchild, endsWith("run.parked"));
    await sendWish(world, { ...head, kind: "run.cancelled", run: child.run, reason: "wrong way" });
    expect(await response).toMatchObject({ status: "completed", details: "went on without" });
    for (const ended of [child, grandchild]) {
      expect((await entriesOf(world, ended)).at(-1)).toMatchObject({
        kind: "run.settled",
        response: { status: "cancelled", error: { message: "wrong way" } },
      });
    }
    expect(host.activeRuns()).toBe(0);
    expect(await world.journal.openRuns()).toEqual([]);
  });

  it("is told so by a parent that needs it no more, also where it is parked", async () => {
    const tasks = [
      { agent: "other", task: "quick" },
      { agent: "helper", task: "waits for a person" },
    ];
    const gate = Promise.withResolvers<void>();
    const script: Script = async (question, signal) => {
      const { agent, step } = question.origin;
      if (agent === "helper") return await deploying(question, signal);
      if (agent === "other") {
        await gate.promise;
        return { text: "enough" };
      }
      return step === 1 ? { calls: [toolCall("delegate", { tasks, policy: "any" })] } : { text: "all done" };
    };
    const world = createTestWorld({ agents, script });
    await startHost(world);
    const response = ask(world, request);
    const parked = await childOf(world, request, 1);
    await entriesOnce(world, parked, endsWith("run.parked"));
    gate.resolve();
    expect(await response).toMatchObject({ status: "completed", details: "all done" });
    expect((await entriesOf(world, parked)).at(-1)).toMatchObject({
      kind: "run.settled",
      response: { status: "cancelled" },
    });
    const told = (await world.journal.readInbox(session)).filter(({ item }) => item.kind === "run.cancelled");
    expect(told).toMatchObject([{ item: { run: parked.run } }]);
  });
});

describe("a message of a person", () => {
  it("reaches the model of the run that it is for at its next step, and nobody else's", async () => {
    const [reached, gate] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const heard: string[] = [];
    const script: Script = async (question, signal) => {
      const { agent, step, run: id } = question.origin;
      const words = question.messages.map(({ text }) => text).join("\n");
      if (words.includes("mind the gap")) heard.push(`${agent}/${step}`);
      if (agent === "main") return await delegating(question, signal);
      if (step > 1) return { text: "minded" };
      reached.resolve(id);
      await gate.promise;
      return { calls: [toolCall("echo")] };
    };
    const world = createTestWorld({ agents, script });
    await startHost(world);
    const response = ask(world, request);
    const child = { session, run: await reached.promise };
    await sendWish(world, { ...head, kind: "run.steered", run: child.run, text: "mind the gap", by });
    await entriesOnce(world, child, endsWith("inbox.received"));
    gate.resolve();
    expect(await response).toMatchObject({ status: "completed" });
    expect(heard).toEqual(["helper/2"]);
  });
});

/** The response of the run under test, for whoever listens before it is given. */
async function answered(world: TestWorld) {
  const settled = await entriesOnce(world, request, endsWith("run.settled"));
  const last = settled.at(-1);
  if (last?.kind !== "run.settled") throw new Error("not settled");
  return last.response;
}
