/** Several hosts on one journal: hosts that leave, commands, and parents and children on different hosts. */
import type { HostDirectory, RunRequest } from "@troupe/core";
import { resumeOpenRuns } from "@troupe/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import {
  call,
  delegate,
  leaseMs,
  type Machines,
  type MachinesOptions,
  openMachines,
  sendCommand,
  wrongIn,
} from "./machines.fixture.ts";

const hasServer = findNatsServer() !== null;
const tools = ["look", "put", "shoot", "save", "launch"];
const agents = [
  { id: "main", description: "leads", prompt: "Lead.", tools, subagents: { allow: ["helper"] } },
  { id: "helper", description: "helps", prompt: "Help.", tools },
];
let namespaces = 0;

describe.skipIf(!hasServer)(hasServer ? "machines" : natsServerMissing, { concurrent: true }, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server.stop());

  const open = (options: Omit<MachinesOptions, "url" | "namespace" | "agents">): Promise<Machines> =>
    openMachines({ url: server.url, namespace: `team${++namespaces}`, agents, ...options });
  const head = ({ session, run }: RunRequest) => ({ v: 1 as const, at: 1, session, run });

  it("one that drains during work loses nothing: other hosts resume its runs", async () => {
    let isDraining = false;
    const working = Promise.withResolvers<void>();
    await using machines = await open({
      script: async ({ origin }, at, signal) => {
        if (origin.step === 1) return { calls: [call("look"), call("shoot")] };
        if (at.name !== "a" || isDraining) return { text: `done by ${at.name}` };
        working.resolve();
        // Calls that exceed the grace period are stopped, and repeated on another host.
        return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      },
    });
    const a = await machines.machine("a");
    const requests = Array.from({ length: 6 }, () => machines.request());
    await Promise.all(requests.map((request) => machines.offer(a, request)));
    await working.promise;
    await until(() => machines.done.length === 12);
    const b = await machines.machine("b");
    isDraining = true;
    await a.host.drain({ graceMs: 50 });
    expect(a.host.activeRuns()).toBe(0);
    const responses = await Promise.all(requests.map((request) => machines.response(request)));
    expect(responses.map(({ status, summary }) => `${status} ${summary}`)).toEqual(
      Array(6).fill("completed done by b"),
    );
    for (const request of requests) {
      const entries = await machines.entries(request);
      expect([wrongIn(entries), entries.filter(({ kind }) => kind === "run.claimed").length]).toEqual([[], 1]);
    }
    // No completed call was repeated.
    expect(machines.done.length).toBe(12);
    expect(b.logged).not.toContain("run is held by another host");
  });

  describe("a command reaches a run on another machine", () => {
    it("at once if it is announced: the running tool is stopped", async () => {
      const working = Promise.withResolvers<void>();
      await using machines = await open({
        script: () => ({ calls: [call("shoot")] }),
        onTool: (_, __, signal) =>
          new Promise((resolve) => {
            working.resolve();
            signal.addEventListener("abort", () => resolve());
          }),
      });
      const [a, b] = [await machines.machine("a", { agents: [] }), await machines.machine("b")];
      const request = machines.request();
      await machines.offer(b, request);
      await working.promise;
      await sendCommand(a, { ...head(request), kind: "run.cancelled", reason: "enough" });
      expect(await machines.response(request)).toMatchObject({ status: "cancelled", error: { message: "enough" } });
    });

    it("before the next model call if its announcement was lost", async () => {
      const gate = Promise.withResolvers<void>();
      const working = Promise.withResolvers<void>();
      await using machines = await open({
        script: ({ origin, messages }) =>
          origin.step === 1 ? { calls: [call("look")] } : { text: JSON.stringify(messages.slice(-1)) },
        async onTool() {
          working.resolve();
          await gate.promise;
        },
      });
      const [a, b] = [await machines.machine("a", { agents: [] }), await machines.machine("b")];
      const request = machines.request();
      await machines.offer(b, request);
      await working.promise;
      await sendCommand(
        a,
        { ...head(request), kind: "run.steered", text: "in French, please", by: "x" },
        { announced: false },
      );
      gate.resolve();
      expect((await machines.response(request)).details).toContain("in French, please");
    });

    it("before an unsafe tool if its announcement was lost: the tool never runs", async () => {
      const gate = Promise.withResolvers<void>();
      const thinking = Promise.withResolvers<void>();
      await using machines = await open({
        async script() {
          thinking.resolve();
          await gate.promise;
          return { calls: [call("shoot")] };
        },
      });
      const [a, b] = [await machines.machine("a", { agents: [] }), await machines.machine("b")];
      const request = machines.request();
      await machines.offer(b, request);
      await thinking.promise;
      await sendCommand(a, { ...head(request), kind: "session.cancelled", reason: "no!" }, { announced: false });
      gate.resolve();
      expect(await machines.response(request)).toMatchObject({ status: "cancelled" });
      expect(machines.done).toEqual([]);
    });

    it("on reconnecting if it was announced while disconnected", async () => {
      const working = Promise.withResolvers<void>();
      await using machines = await open({
        script: () => ({ calls: [call("shoot")] }),
        onTool: (_, __, signal) =>
          new Promise((resolve) => {
            working.resolve();
            signal.addEventListener("abort", () => resolve());
          }),
      });
      const [a, b] = [await machines.machine("a", { agents: [] }), await machines.machine("b")];
      const request = machines.request();
      await machines.offer(b, request);
      await working.promise;
      const gone = new Promise((resolve) => b.link.onEvent(({ kind }) => kind === "disconnected" && resolve(kind)));
      b.wire.hold("toClient", "toServer");
      b.wire.cut();
      await gone;
      await sendCommand(a, { ...head(request), kind: "run.cancelled", reason: "enough" });
      b.wire.release();
      expect(await machines.response(request)).toMatchObject({ status: "cancelled" });
    });

    it("on the claim if it was sent while no host had the run", async () => {
      await using machines = await open({ script: () => ({ text: "went on" }) });
      const a = await machines.machine("a", { agents: [] });
      const request = machines.request();
      await machines.offer(a, request);
      await sendCommand(a, { ...head(request), kind: "run.cancelled", reason: "too late" }, { announced: false });
      await machines.machine("b");
      expect(await machines.response(request)).toMatchObject({ status: "cancelled" });
      expect(machines.asked).toEqual([]);
    });

    it("that is an approval: the run that was parked on one host resumes on another", async () => {
      await using machines = await open({
        script: ({ origin, messages }) =>
          origin.step === 1 ? { calls: [call("launch")] } : { text: messages.at(-1)?.text ?? "" },
      });
      const a = await machines.machine("a");
      const request = machines.request();
      await machines.offer(a, request);
      const asked = await until(async () => {
        const entries = await machines.entries(request);
        return entries.at(-1)?.kind === "run.parked" && entries.find(({ kind }) => kind === "approval.requested");
      });
      if (asked.kind !== "approval.requested") throw new Error("no approval was requested");
      await until(async () => (await machines.tasks()) === 0 && a.host.activeRuns() === 0);
      await a.host.drain({ graceMs: 0 });
      const b = await machines.machine("b");
      const approval = { approved: true, scope: "once" as const, reason: null, by: "a person" };
      const { session, run } = asked;
      await sendCommand(b, {
        v: 1,
        at: 1,
        session,
        run,
        kind: "approval.answered",
        approval: asked.approval.id,
        ...approval,
      });
      expect(await machines.offer(b, request)).toBe("offered");
      expect((await machines.response(request)).details).toContain("launch done");
      expect(machines.done.map(({ machine }) => machine)).toEqual(["b"]);
    });
  });

  describe("a parent on one, and its child on another", () => {
    const leading = (question: Parameters<MachinesOptions["script"]>[0]) => {
      const { agent, step } = question.origin;
      if (agent === "helper") return { text: "helped" };
      return step === 1 ? { calls: [delegate("helper")] } : { text: `led: ${question.messages.at(-1)?.text}` };
    };

    it("behave as on one machine", async () => {
      await using machines = await open({ script: leading });
      const a = await machines.machine("a", { agents: ["main"] });
      await machines.machine("b", { agents: ["helper"] });
      const request = machines.request();
      await machines.offer(a, request);
      const response = await machines.response(request);
      expect([response.status, response.details.includes("helped"), machines.asked]).toEqual([
        "completed",
        true,
        ["a main/1", "b helper/1", "a main/2"],
      ]);
    });

    it("whose announcement is lost: the parent finds the response in the journal soon afterwards", async () => {
      await using machines = await open({ script: leading });
      const a = await machines.machine("a", { agents: ["main"] });
      await machines.machine("b", {
        agents: ["helper"],
        bus: (bus) => ({
          ...bus,
          publish(subject, bytes) {
            if (!subject.includes(".settled.")) bus.publish(subject, bytes);
          },
        }),
      });
      const request = machines.request();
      const beganMs = performance.now();
      await machines.offer(a, request);
      expect((await machines.response(request)).status).toBe("completed");
      expect(performance.now() - beganMs).toBeLessThan(10 * leaseMs);
    });

    it("that continues while the parent's host dies: the parent's next host finds its response, and repeats nothing", async () => {
      const gate = Promise.withResolvers<void>();
      const helping = Promise.withResolvers<void>();
      await using machines = await open({
        async script(question) {
          if (question.origin.agent === "helper") {
            helping.resolve();
            await gate.promise;
          }
          return leading(question);
        },
      });
      const a = await machines.machine("a", { agents: ["main"] });
      await machines.machine("b", { agents: ["helper"] });
      const request = machines.request();
      await machines.offer(a, request);
      await helping.promise;
      a.die();
      gate.resolve();
      await machines.machine("c", { agents: ["main"] });
      const response = await machines.response(request);
      expect([response.status, response.details.includes("helped"), machines.asked]).toEqual([
        "completed",
        true,
        ["a main/1", "b helper/1", "c main/2"],
      ]);
      expect(wrongIn(await machines.entries(request))).toEqual([]);
    });

    it("that dies with its host: the parent gets the response from the child's next host", async () => {
      await using machines = await open({
        script(question, at) {
          if (at.name === "b") at.die();
          return leading(question);
        },
      });
      const a = await machines.machine("a", { agents: ["main"] });
      await machines.machine("b", { agents: ["helper"] });
      const request = machines.request();
      await machines.offer(a, request);
      await until(() => machines.asked.includes("b helper/1"));
      await machines.machine("c", { agents: ["helper"] });
      expect((await machines.response(request)).status).toBe("completed");
      expect(machines.asked).toEqual(["a main/1", "b helper/1", "c helper/1", "a main/2"]);
    });
  });

  it("one without a tool of a run leaves the run to the one with the tool, and logs it once", async () => {
    const everybody: HostDirectory = {
      list: () => [],
      serving: async () => [],
      served: () => new Map(),
      onChange: () => () => {},
    };
    await using machines = await open({
      script: ({ origin }, at) => {
        if (at.name === "a") at.die();
        return origin.step === 1 ? { calls: [call("put")] } : { text: `done by ${at.name}` };
      },
    });
    const a = await machines.machine("a");
    const request = machines.request();
    await machines.offer(a, request);
    await until(() => machines.asked.length === 1);
    const poor = await machines.machine("poor", { hosts: everybody, tools: ["look"] });
    await until(() => poor.logged.includes("run left to another host"));
    await machines.machine("rich", { hosts: everybody });
    expect(await machines.response(request)).toMatchObject({ status: "completed", summary: "done by rich" });
    expect(poor.logged.filter((line) => line === "run left to another host")).toHaveLength(1);
    expect((await machines.entries(request)).some(({ host }) => host === "poor")).toBe(false);
  });

  describe("a run whose task is lost with its queue", () => {
    it("is offered again as if it were new, and is not taken from its holder", async () => {
      const gate = Promise.withResolvers<void>();
      await using machines = await open({
        script: async (_, at) => {
          await gate.promise;
          return { text: `done by ${at.name}` };
        },
      });
      const a = await machines.machine("a", { capacity: 1 });
      const b = await machines.machine("b", { agents: [] });
      const request = machines.request();
      await machines.offer(a, request);
      await until(() => a.host.activeRuns() === 1);
      await machines.loseTask(request);
      const c = await machines.machine("c");
      expect(await machines.offer(b, request)).toBe("offered");
      await until(() => c.logged.includes("run is held by another host"));
      gate.resolve();
      expect((await machines.response(request)).summary).toBe("done by a");
      expect(new Set((await machines.entries(request)).map(({ host }) => host))).toEqual(new Set(["a"]));
    });

    it("is offered again by the recovery of open runs, once its host is gone as well", async () => {
      await using machines = await open({
        script: (_, at) => {
          if (at.name === "a") at.die();
          return { text: `done by ${at.name}` };
        },
      });
      const a = await machines.machine("a");
      const b = await machines.machine("b", { agents: [] });
      const request = machines.request();
      await machines.offer(b, request);
      await until(() => machines.asked.length === 1);
      await machines.loseTask(request);
      await machines.machine("c");
      const resumer = await resumeOpenRuns(b.deps);
      expect(resumer.offered).toEqual([]);
      expect((await machines.response(request)).summary).toBe("done by c");
      resumer.stop();
      expect(a.host.activeRuns()).toBe(1);
    });
  });
});
