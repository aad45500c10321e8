/**
 * Two machines and more, one journal: whoever vanishes loses his runs and does nothing to them when he comes back, whoever
 * was only out of reach for a moment keeps them, and what was begun and not finished is done again only where that is safe.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Entry } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import type { Direction } from "../harness/tcp-proxy.ts";
import { until } from "../harness/until.ts";
import {
  type Company,
  type CompanyOptions,
  call,
  leaseMs,
  type Machine,
  openCompany,
  wrongIn,
} from "./machines.fixture.ts";

const hasServer = findNatsServer() !== null;
const agents = [{ id: "main", description: "does it", prompt: "Do it.", tools: ["look", "put", "shoot", "save"] }];
let namespaces = 0;

describe.skipIf(!hasServer)(hasServer ? "a takeover" : natsServerMissing, { concurrent: true }, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  const open = (options: Omit<CompanyOptions, "url" | "namespace" | "agents">): Promise<Company> =>
    openCompany({ url: server.url, namespace: `over${++namespaces}`, agents, ...options });

  it("from a host that stands still: when it wakes up it commits nothing, does nothing and says nothing", async () => {
    const asleep = Promise.withResolvers<void>();
    await using registry = await open({
      script: async (_, at) => {
        if (at.name !== "a") return { text: "done by b" };
        at.sleep();
        asleep.resolve();
        // What it hears when it wakes up is what it would act on.
        return { calls: [call("shoot"), call("look")] };
      },
    });
    const a = await registry.machine("a");
    const request = registry.request();
    await registry.offer(a, request);
    await asleep.promise;
    const b = await registry.machine("b");
    const settled: unknown[] = [];
    await b.deps.bus.subscribe(b.deps.subjects.settled(request.run), (message) => settled.push(message));
    const stillMs = performance.now();
    expect(await registry.response(request)).toMatchObject({ status: "completed", summary: "done by b" });
    expect(performance.now() - stillMs).toBeLessThan(4 * leaseMs);
    const entries = await registry.entries(request);
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    await delay(leaseMs / 2);
    expect(await registry.entries(request)).toEqual(entries);
    expect([registry.done, settled.length, wrongIn(entries), await registry.tasks()]).toEqual([[], 1, [], 0]);
    expect(a.logged).toContain("run lost");
  });

  it.for<{ what: string; after: Entry["kind"]; done: string[]; asked: string[] }>([
    { what: "a tool", after: "model.replied", done: ["b look"], asked: ["a main/1", "b main/2"] },
    { what: "a model call", after: "tool.finished", done: ["a look"], asked: ["a main/1", "b main/2"] },
  ])("from a host that stands still right before $what: it does not begin it when it wakes up", async (given) => {
    const asleep = Promise.withResolvers<void>();
    await using registry = await open({
      script: ({ origin }, at) => (origin.step === 1 ? { calls: [call("look")] } : { text: `done by ${at.name}` }),
    });
    const a = await registry.machine("a", {
      stored(entries, at) {
        // Nothing has to be written any more before the next thing begins.
        if (!entries.some(({ kind }) => kind === given.after)) return;
        at.sleep();
        asleep.resolve();
      },
    });
    const request = registry.request();
    await registry.offer(a, request);
    await asleep.promise;
    await registry.machine("b");
    expect((await registry.response(request)).summary).toBe("done by b");
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    expect(registry.done.map(({ machine, tool }) => `${machine} ${tool}`)).toEqual(given.done);
    expect(registry.asked).toEqual(given.asked);
  });

  it("from a host that is cut off in a moment of work: its late outcome is nobody's", async () => {
    const shot = Promise.withResolvers<Machine>();
    const late = Promise.withResolvers<void>();
    await using registry = await open({
      script: ({ messages }, at) => ({
        ...(messages.length > 1 ? { text: `${messages.at(-1)?.text} ${at.name}` } : { calls: [call("shoot")] }),
      }),
      async onTool(at) {
        shot.resolve(at);
        await late.promise;
      },
    });
    const a = await registry.machine("a");
    const request = registry.request();
    await registry.offer(a, request);
    await shot.promise;
    a.sleep();
    await registry.machine("b");
    const response = await registry.response(request);
    expect(response.status).toBe("completed");
    expect(response.summary).toContain("IN DOUBT");
    late.resolve();
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    expect(registry.done.map(({ machine, tool }) => `${machine} ${tool}`)).toEqual(["a shoot"]);
    expect(wrongIn(await registry.entries(request))).toEqual([]);
  });

  it.for<{ what: string; held: Direction[] }>([
    { what: "that hears nothing", held: ["toClient"] },
    { what: "that nobody hears", held: ["toServer"] },
    { what: "that neither hears nor is heard", held: ["toClient", "toServer"] },
  ])("from a host $what: one of the two commits, and after the partition both agree on it", async ({ held }) => {
    const working = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await using registry = await open({
      script: async (question, at) => {
        if (question.origin.step > 1) return { text: `done by ${at.name}` };
        if (at.name === "a") {
          working.resolve();
          await gate.promise;
        }
        return { calls: [call("look")] };
      },
    });
    const a = await registry.machine("a");
    const request = registry.request();
    await registry.offer(a, request);
    await working.promise;
    a.wire.hold(...held);
    a.cutFromJournal(true);
    const b = await registry.machine("b");
    // It may go on with what is in its own hands for as long as it is cut off: nothing of it counts.
    await delay(leaseMs);
    gate.resolve();
    expect(await registry.response(request)).toMatchObject({ status: "completed", summary: "done by b" });
    a.wire.release();
    a.cutFromJournal(false);
    await until(() => a.host.activeRuns() === 0 && b.host.activeRuns() === 0);
    const entries = await registry.entries(request);
    expect([wrongIn(entries), entries.filter(({ epoch }) => epoch > 1).every(({ host }) => host === "b")]).toEqual([
      [],
      true,
    ]);
    expect(await until(async () => (await registry.tasks()) === 0)).toBe(true);
  });

  it("does not happen to a host that is back in a moment: it is asked, and says that it is there", async () => {
    const working = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await using registry = await open({
      script: async (_, at) => {
        if (at.name === "a") {
          working.resolve();
          await gate.promise;
        }
        return { text: `done by ${at.name}` };
      },
    });
    const a = await registry.machine("a");
    const request = registry.request();
    await registry.offer(a, request);
    await working.promise;
    const b = await registry.machine("b");
    const asked = Promise.withResolvers<void>();
    await b.deps.bus.subscribe(b.deps.subjects.control("a"), () => asked.resolve());
    a.wire.hold("toServer", "toClient");
    // Its task has been given out again, and whoever has it asks.
    await asked.promise;
    a.wire.release();
    await until(() => b.logged.includes("run is held by another host"));
    gate.resolve();
    expect(await registry.response(request)).toMatchObject({ summary: "done by a" });
    expect((await registry.entries(request)).map(({ host, epoch }) => `${host} ${epoch}`)).toEqual([
      "a 1",
      "a 1",
      "a 1",
    ]);
    expect(await until(async () => (await registry.tasks()) === 0)).toBe(true);
  });

  it("does not happen to a host whose wall clock is set by hours and months again and again", async () => {
    let aheadMs = 0;
    const gate = Promise.withResolvers<void>();
    await using registry = await open({
      script: async (question, at) => {
        if (question.origin.step === 1) await gate.promise;
        return question.origin.step === 1 ? { calls: [call("look")] } : { text: `done by ${at.name}` };
      },
    });
    const a = await registry.machine("a", { clock: { ...systemClock(), now: () => Date.now() + aheadMs } });
    const request = registry.request();
    await registry.offer(a, request);
    await until(() => a.host.activeRuns() === 1);
    await registry.machine("b", { clock: { ...systemClock(), now: () => Date.now() - 3_600_000 } });
    const hourMs = 3_600_000;
    for (const byMs of [hourMs, -hourMs, 720 * hourMs, -720 * hourMs, hourMs, -720 * hourMs, 12 * hourMs, 0]) {
      aheadMs = byMs;
      await delay(leaseMs / 3);
    }
    gate.resolve();
    expect(await registry.response(request)).toMatchObject({ status: "completed", summary: "done by a" });
    expect(new Set((await registry.entries(request)).map(({ host, epoch }) => `${host} ${epoch}`))).toEqual(
      new Set(["a 1"]),
    );
  });

  it("of a run that kills whoever takes it up happens three times, and no other run is hurt", async () => {
    await using registry = await open({
      script: async ({ origin }, at) => {
        if (origin.task !== "poison") return { text: "well" };
        at.die();
        return {};
      },
    });
    const keeper = await registry.machine("keeper", { agents: [] });
    const poison = registry.request({ task: "poison" });
    await registry.offer(keeper, poison);
    const names = ["a", "b", "c", "d"];
    const settled = registry.response(poison);
    let isOver = false;
    void settled.then(() => {
      isOver = true;
    });
    const lives: Machine[] = [];
    for (const name of names) {
      const machine = await registry.machine(name, { capacity: 2 });
      lives.push(machine);
      const well = registry.request({ task: "well" });
      await registry.offer(keeper, well);
      await until(
        () =>
          isOver ||
          (registry.asked.some((asked) => asked === `${name} main/1` && lives.includes(machine)) &&
            machine.host.activeRuns() > 0),
      );
      if (isOver) break;
      await delay(leaseMs / 4);
    }
    expect(await settled).toMatchObject({ status: "failed", error: { type: "crashed" } });
    const entries = await registry.entries(poison);
    expect(entries.map(({ kind, host }) => `${host} ${kind}`)).toEqual([
      "a run.opened",
      "b run.claimed",
      "c run.claimed",
      "d run.claimed",
      "d run.settled",
    ]);
    const healthy = registry.request({ task: "well" });
    await registry.offer(keeper, healthy);
    expect(await registry.response(healthy)).toMatchObject({ status: "completed", summary: "well" });
  });

  it.for<{ tool: string; announced: boolean; moment: "before" | "after"; runs: string[]; told: string }>([
    { tool: "look", announced: false, moment: "before", runs: ["b"], told: "look done" },
    { tool: "look", announced: false, moment: "after", runs: ["a", "b"], told: "look done" },
    { tool: "put", announced: false, moment: "before", runs: ["b"], told: "put done" },
    { tool: "put", announced: false, moment: "after", runs: ["a", "b"], told: "put done" },
    { tool: "save", announced: true, moment: "before", runs: ["b"], told: "save done" },
    { tool: "save", announced: true, moment: "after", runs: ["a"], told: "save was done" },
    { tool: "shoot", announced: true, moment: "before", runs: [], told: "IN DOUBT" },
    { tool: "shoot", announced: true, moment: "after", runs: ["a"], told: "IN DOUBT" },
  ])("from a host that died right $moment it could $tool: done by $runs, and told $told", async (given) => {
    const { tool, announced, moment, runs, told } = given;
    let isSaved = false;
    const dead = Promise.withResolvers<void>();
    const die = (at: Machine): void => {
      if (at.name !== "a") return;
      at.die();
      dead.resolve();
    };
    await using registry = await open({
      script: ({ origin, messages }) =>
        origin.step === 1 ? { calls: [call(tool)] } : { text: messages.at(-1)?.text ?? "" },
      onTool(at) {
        isSaved = true;
        die(at);
      },
      isSaved: () => isSaved,
    });
    const last = announced ? "intent:after" : "effect:before";
    const a = await registry.machine("a", {
      failpoint: (point, key, at) => moment === "before" && point === last && /tool/i.test(key) && die(at),
    });
    const request = registry.request();
    await registry.offer(a, request);
    await dead.promise;
    await registry.machine("b");
    const response = await registry.response(request);
    expect(response.status).toBe("completed");
    expect(response.details).toContain(told);
    expect(registry.done.map(({ machine }) => machine)).toEqual(runs);
    expect(new Set(registry.done.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
    expect(wrongIn(await registry.entries(request))).toEqual([]);
  });
});
