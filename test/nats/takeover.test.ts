/**
 * Several machines with one journal. A host that vanishes loses its runs, and does nothing to them when it returns. A host
 * that was unreachable for a moment keeps its runs. Unfinished effects are repeated only if that is safe.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Entry, RunResponse } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import type { Direction } from "../harness/tcp-proxy.ts";
import { until } from "../harness/until.ts";
import {
  call,
  leaseMs,
  type Machine,
  type Machines,
  type MachinesOptions,
  openMachines,
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

  const open = (options: Omit<MachinesOptions, "url" | "namespace" | "agents">): Promise<Machines> =>
    openMachines({ url: server.url, namespace: `over${++namespaces}`, agents, ...options });

  it("from a suspended host: when it resumes it commits nothing, runs nothing and announces nothing", async () => {
    const asleep = Promise.withResolvers<void>();
    await using machines = await open({
      script: async (_, at) => {
        if (at.name !== "a") return { text: "done by b" };
        at.sleep();
        asleep.resolve();
        // These are the messages that it receives when it resumes.
        return { calls: [call("shoot"), call("look")] };
      },
    });
    const a = await machines.machine("a");
    const request = machines.request();
    await machines.offer(a, request);
    await asleep.promise;
    const b = await machines.machine("b");
    const settled: unknown[] = [];
    await b.deps.bus.subscribe(b.deps.subjects.settled(request.run), (message) => settled.push(message));
    const stillMs = performance.now();
    expect(await machines.response(request)).toMatchObject({ status: "completed", summary: "done by b" });
    expect(performance.now() - stillMs).toBeLessThan(10 * leaseMs);
    const entries = await machines.entries(request);
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    await delay(leaseMs / 2);
    expect(await machines.entries(request)).toEqual(entries);
    expect([machines.done, settled.length, wrongIn(entries), await machines.tasks()]).toEqual([[], 1, [], 0]);
    expect(a.logged).toContain("run lost");
  });

  it.for<{ what: string; after: Entry["kind"]; done: string[]; asked: string[] }>([
    { what: "a tool", after: "model.replied", done: ["b look"], asked: ["a main/1", "b main/2"] },
    { what: "a model call", after: "tool.finished", done: ["a look"], asked: ["a main/1", "b main/2"] },
  ])("from a host that is suspended right before $what: it does not start it when it resumes", async (given) => {
    const asleep = Promise.withResolvers<void>();
    await using machines = await open({
      script: ({ origin }, at) => (origin.step === 1 ? { calls: [call("look")] } : { text: `done by ${at.name}` }),
    });
    const a = await machines.machine("a", {
      stored(entries, at) {
        // The next effect needs no further append.
        if (!entries.some(({ kind }) => kind === given.after)) return;
        at.sleep();
        asleep.resolve();
      },
    });
    const request = machines.request();
    await machines.offer(a, request);
    await asleep.promise;
    await machines.machine("b");
    expect((await machines.response(request)).summary).toBe("done by b");
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    expect(machines.done.map(({ machine, tool }) => `${machine} ${tool}`)).toEqual(given.done);
    expect(machines.asked).toEqual(given.asked);
  });

  it("from a host that is cut off during a tool call: its late outcome is discarded", async () => {
    const shot = Promise.withResolvers<Machine>();
    const late = Promise.withResolvers<void>();
    await using machines = await open({
      script: ({ messages }, at) => ({
        ...(messages.length > 1 ? { text: `${messages.at(-1)?.text} ${at.name}` } : { calls: [call("shoot")] }),
      }),
      async onTool(at) {
        shot.resolve(at);
        await late.promise;
      },
    });
    const a = await machines.machine("a");
    const request = machines.request();
    await machines.offer(a, request);
    await shot.promise;
    a.sleep();
    await machines.machine("b");
    const response = await machines.response(request);
    expect(response.status).toBe("completed");
    expect(response.summary).toContain("IN DOUBT");
    late.resolve();
    a.wake();
    await until(() => a.host.activeRuns() === 0);
    expect(machines.done.map(({ machine, tool }) => `${machine} ${tool}`)).toEqual(["a shoot"]);
    expect(wrongIn(await machines.entries(request))).toEqual([]);
  });

  it.for<{ what: string; held: Direction[] }>([
    { what: "that receives nothing", held: ["toClient"] },
    { what: "whose messages are lost", held: ["toServer"] },
    { what: "that is cut off both ways", held: ["toClient", "toServer"] },
  ])("from a host $what: one of the two commits, and after the partition both agree on it", async ({ held }) => {
    const working = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await using machines = await open({
      script: async (question, at) => {
        if (question.origin.step > 1) return { text: `done by ${at.name}` };
        if (at.name === "a") {
          working.resolve();
          await gate.promise;
        }
        return { calls: [call("look")] };
      },
    });
    const a = await machines.machine("a");
    const request = machines.request();
    await machines.offer(a, request);
    await working.promise;
    a.wire.hold(...held);
    a.cutFromJournal(true);
    const b = await machines.machine("b");
    // It may continue locally while it is cut off: none of that counts.
    await delay(leaseMs);
    gate.resolve();
    expect(await machines.response(request)).toMatchObject({ status: "completed", summary: "done by b" });
    a.wire.release();
    a.cutFromJournal(false);
    await until(() => a.host.activeRuns() === 0 && b.host.activeRuns() === 0);
    const entries = await machines.entries(request);
    const hosts = entries.filter(({ epoch }) => epoch > 1).map(({ host }) => host);
    expect([wrongIn(entries), [...new Set(hosts)]]).toEqual([[], ["b"]]);
    expect(await until(async () => (await machines.tasks()) === 0)).toBe(true);
  });

  it("does not happen to a host that returns in a moment: it is queried, and answers", async () => {
    const working = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await using machines = await open({
      // The host has 0.4 of a lease to answer.
      leaseMs: 4 * leaseMs,
      script: async (_, at) => {
        if (at.name === "a") {
          working.resolve();
          await gate.promise;
        }
        return { text: `done by ${at.name}` };
      },
    });
    const a = await machines.machine("a");
    const request = machines.request();
    await machines.offer(a, request);
    await working.promise;
    const b = await machines.machine("b");
    const asked = Promise.withResolvers<void>();
    await b.deps.bus.subscribe(b.deps.subjects.control("a"), () => asked.resolve());
    a.wire.hold("toServer", "toClient");
    // Its task was delivered again, and the receiving host queries it.
    await asked.promise;
    a.wire.release();
    await until(() => b.logged.includes("run is held by another host"));
    gate.resolve();
    expect(await machines.response(request)).toMatchObject({ summary: "done by a" });
    expect((await machines.entries(request)).map(({ host, epoch }) => `${host} ${epoch}`)).toEqual([
      "a 1",
      "a 1",
      "a 1",
    ]);
    expect(await until(async () => (await machines.tasks()) === 0)).toBe(true);
  });

  it("does not happen to a host whose wall clock is set by hours and months again and again", async () => {
    let aheadMs = 0;
    const gate = Promise.withResolvers<void>();
    await using machines = await open({
      script: async (question, at) => {
        if (question.origin.step === 1) await gate.promise;
        return question.origin.step === 1 ? { calls: [call("look")] } : { text: `done by ${at.name}` };
      },
    });
    const a = await machines.machine("a", { clock: { ...systemClock(), now: () => Date.now() + aheadMs } });
    const request = machines.request();
    await machines.offer(a, request);
    await until(() => a.host.activeRuns() === 1);
    await machines.machine("b", { clock: { ...systemClock(), now: () => Date.now() - 3_600_000 } });
    const hourMs = 3_600_000;
    for (const byMs of [hourMs, -hourMs, 720 * hourMs, -720 * hourMs, hourMs, -720 * hourMs, 12 * hourMs, 0]) {
      aheadMs = byMs;
      await delay(leaseMs / 3);
    }
    gate.resolve();
    expect(await machines.response(request)).toMatchObject({ status: "completed", summary: "done by a" });
    expect(new Set((await machines.entries(request)).map(({ host, epoch }) => `${host} ${epoch}`))).toEqual(
      new Set(["a 1"]),
    );
  });

  it("of a run that kills its hosts happens three times, and no other run is affected", async () => {
    const besides = new Map<string, Promise<RunResponse>>();
    const died: string[] = [];
    await using machines = await open({
      script: async ({ origin }, at) => {
        if (origin.task !== "poison") return { text: `well at ${at.name}` };
        // A run that dies with it three times would count as poison too.
        await besides.get(at.name);
        died.push(at.name);
        at.die();
        return {};
      },
    });
    const idle = await machines.machine("idle", { agents: [] });
    const poison = machines.request({ task: "poison" });
    await machines.offer(idle, poison);
    let isOver = false;
    const settled = machines.response(poison).finally(() => {
      isOver = true;
    });
    for (const name of ["a", "b", "c", "d"]) {
      const well = machines.request({ task: "well" });
      besides.set(name, machines.response(well));
      await machines.offer(idle, well);
      await machines.machine(name, { capacity: 2 });
      await until(() => isOver || died.includes(name));
    }
    expect(await settled).toMatchObject({ status: "failed", error: { type: "crashed" } });
    const entries = await machines.entries(poison);
    expect(entries.map(({ kind, host }) => `${host} ${kind}`)).toEqual([
      "a run.opened",
      "b run.claimed",
      "c run.claimed",
      "d run.claimed",
      "d run.settled",
    ]);
    const responses = await Promise.all(besides.values());
    expect(responses.map(({ summary }) => summary)).toEqual(["well at a", "well at b", "well at c", "well at d"]);
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
  ])("from a host that died right $moment it could $tool: done by $runs, and the result is $told", async (given) => {
    const { tool, announced, moment, runs, told } = given;
    let isSaved = false;
    const dead = Promise.withResolvers<void>();
    const die = (at: Machine): void => {
      if (at.name !== "a") return;
      at.die();
      dead.resolve();
    };
    await using machines = await open({
      script: ({ origin, messages }) =>
        origin.step === 1 ? { calls: [call(tool)] } : { text: messages.at(-1)?.text ?? "" },
      onTool(at) {
        isSaved = true;
        die(at);
      },
      isSaved: () => isSaved,
    });
    const last = announced ? "intent:after" : "effect:before";
    const a = await machines.machine("a", {
      failpoint: (point, key, at) => moment === "before" && point === last && /tool/i.test(key) && die(at),
    });
    const request = machines.request();
    await machines.offer(a, request);
    await dead.promise;
    await machines.machine("b");
    const response = await machines.response(request);
    expect(response.status).toBe("completed");
    expect(response.details).toContain(told);
    expect(machines.done.map(({ machine }) => machine)).toEqual(runs);
    expect(new Set(machines.done.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
    expect(wrongIn(await machines.entries(request))).toEqual([]);
  });
});
