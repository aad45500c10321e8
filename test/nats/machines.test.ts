/** Several hosts at work on one company: who leaves, who wishes something, and what becomes of parents and children. */
import type { HostDirectory, RunRequest } from "@troupe/core";
import { resumeOpenRuns } from "@troupe/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { until } from "../harness/until.ts";
import {
  type Company,
  type CompanyOptions,
  call,
  delegate,
  leaseMs,
  openCompany,
  wish,
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

  const open = (options: Omit<CompanyOptions, "url" | "namespace" | "agents">): Promise<Company> =>
    openCompany({ url: server.url, namespace: `team${++namespaces}`, agents, ...options });
  const head = ({ session, run }: RunRequest) => ({ v: 1 as const, at: 1, session, run });

  it("one that drains in the middle of work loses nothing: others go on where it stopped", async () => {
    let isDraining = false;
    const working = Promise.withResolvers<void>();
    await using registry = await open({
      script: async ({ origin }, at, signal) => {
        if (origin.step === 1) return { calls: [call("look"), call("shoot")] };
        if (at.name !== "a" || isDraining) return { text: `done by ${at.name}` };
        working.resolve();
        // What is not over within the grace is stopped, and asked for again elsewhere.
        return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      },
    });
    const a = await registry.machine("a");
    const requests = Array.from({ length: 6 }, () => registry.request());
    await Promise.all(requests.map((request) => registry.offer(a, request)));
    await working.promise;
    await until(() => registry.done.length === 12);
    const b = await registry.machine("b");
    isDraining = true;
    await a.host.drain({ graceMs: 50 });
    expect(a.host.activeRuns()).toBe(0);
    const responses = await Promise.all(requests.map((request) => registry.response(request)));
    expect(responses.map(({ status, summary }) => `${status} ${summary}`)).toEqual(
      Array(6).fill("completed done by b"),
    );
    for (const request of requests) {
      const entries = await registry.entries(request);
      expect([wrongIn(entries), entries.filter(({ kind }) => kind === "run.claimed").length]).toEqual([[], 1]);
    }
    // No completed call was repeated.
    expect(registry.done.length).toBe(12);
    expect(b.logged).not.toContain("run is held by another host");
  });

  describe("a wish reaches a run on another machine", () => {
    it("at once where it is announced: the tool at work is stopped", async () => {
      const working = Promise.withResolvers<void>();
      await using registry = await open({
        script: () => ({ calls: [call("shoot")] }),
        onTool: (_, __, signal) =>
          new Promise((resolve) => {
            working.resolve();
            signal.addEventListener("abort", () => resolve());
          }),
      });
      const [a, b] = [await registry.machine("a", { agents: [] }), await registry.machine("b")];
      const request = registry.request();
      await registry.offer(b, request);
      await working.promise;
      await wish(a, { ...head(request), kind: "run.cancelled", reason: "enough" });
      expect(await registry.response(request)).toMatchObject({ status: "cancelled", error: { message: "enough" } });
    });

    it("before the next model call where nobody announced it", async () => {
      const gate = Promise.withResolvers<void>();
      const working = Promise.withResolvers<void>();
      await using registry = await open({
        script: ({ origin, messages }) =>
          origin.step === 1 ? { calls: [call("look")] } : { text: JSON.stringify(messages.slice(-1)) },
        async onTool() {
          working.resolve();
          await gate.promise;
        },
      });
      const [a, b] = [await registry.machine("a", { agents: [] }), await registry.machine("b")];
      const request = registry.request();
      await registry.offer(b, request);
      await working.promise;
      await wish(
        a,
        { ...head(request), kind: "run.steered", text: "in French, please", by: "x" },
        { announced: false },
      );
      gate.resolve();
      expect((await registry.response(request)).details).toContain("in French, please");
    });

    it("before an unsafe tool where nobody announced it: the tool never runs", async () => {
      const gate = Promise.withResolvers<void>();
      const thinking = Promise.withResolvers<void>();
      await using registry = await open({
        async script() {
          thinking.resolve();
          await gate.promise;
          return { calls: [call("shoot")] };
        },
      });
      const [a, b] = [await registry.machine("a", { agents: [] }), await registry.machine("b")];
      const request = registry.request();
      await registry.offer(b, request);
      await thinking.promise;
      await wish(a, { ...head(request), kind: "session.cancelled", reason: "no!" }, { announced: false });
      gate.resolve();
      expect(await registry.response(request)).toMatchObject({ status: "cancelled" });
      expect(registry.done).toEqual([]);
    });

    it("on reconnecting where it was announced during a gap", async () => {
      const working = Promise.withResolvers<void>();
      await using registry = await open({
        script: () => ({ calls: [call("shoot")] }),
        onTool: (_, __, signal) =>
          new Promise((resolve) => {
            working.resolve();
            signal.addEventListener("abort", () => resolve());
          }),
      });
      const [a, b] = [await registry.machine("a", { agents: [] }), await registry.machine("b")];
      const request = registry.request();
      await registry.offer(b, request);
      await working.promise;
      const gone = new Promise((resolve) => b.link.onEvent(({ kind }) => kind === "disconnected" && resolve(kind)));
      b.wire.hold("toClient", "toServer");
      b.wire.cut();
      await gone;
      await wish(a, { ...head(request), kind: "run.cancelled", reason: "enough" });
      b.wire.release();
      expect(await registry.response(request)).toMatchObject({ status: "cancelled" });
    });

    it("on the claim where it was said while nobody had the run", async () => {
      await using registry = await open({ script: () => ({ text: "went on" }) });
      const a = await registry.machine("a", { agents: [] });
      const request = registry.request();
      await registry.offer(a, request);
      await wish(a, { ...head(request), kind: "run.cancelled", reason: "too late" }, { announced: false });
      await registry.machine("b");
      expect(await registry.response(request)).toMatchObject({ status: "cancelled" });
      expect(registry.asked).toEqual([]);
    });

    it("that is an approval: the run that had parked on one goes on with another", async () => {
      await using registry = await open({
        script: ({ origin, messages }) =>
          origin.step === 1 ? { calls: [call("launch")] } : { text: messages.at(-1)?.text ?? "" },
      });
      const a = await registry.machine("a");
      const request = registry.request();
      await registry.offer(a, request);
      const asked = await until(async () => {
        const entries = await registry.entries(request);
        return entries.at(-1)?.kind === "run.parked" && entries.find(({ kind }) => kind === "approval.requested");
      });
      if (asked.kind !== "approval.requested") throw new Error("nobody was asked");
      await until(async () => (await registry.tasks()) === 0 && a.host.activeRuns() === 0);
      await a.host.drain({ graceMs: 0 });
      const b = await registry.machine("b");
      const said = { approved: true, scope: "once" as const, reason: null, by: "a person" };
      const { session, run } = asked;
      await wish(b, { v: 1, at: 1, session, run, kind: "approval.answered", approval: asked.approval.id, ...said });
      expect(await registry.offer(b, request)).toBe("offered");
      expect((await registry.response(request)).details).toContain("launch done");
      expect(registry.done.map(({ machine }) => machine)).toEqual(["b"]);
    });
  });

  describe("a parent on one, and its child on another", () => {
    const leading = (question: Parameters<CompanyOptions["script"]>[0]) => {
      const { agent, step } = question.origin;
      if (agent === "helper") return { text: "helped" };
      return step === 1 ? { calls: [delegate("helper")] } : { text: `led: ${question.messages.at(-1)?.text}` };
    };

    it("do what they would do on one", async () => {
      await using registry = await open({ script: leading });
      const a = await registry.machine("a", { agents: ["main"] });
      await registry.machine("b", { agents: ["helper"] });
      const request = registry.request();
      await registry.offer(a, request);
      const response = await registry.response(request);
      expect([response.status, response.details.includes("helped"), registry.asked]).toEqual([
        "completed",
        true,
        ["a main/1", "b helper/1", "a main/2"],
      ]);
    });

    it("whose word is lost on its way: the parent finds it in the journal, soon afterwards", async () => {
      await using registry = await open({ script: leading });
      const a = await registry.machine("a", { agents: ["main"] });
      await registry.machine("b", {
        agents: ["helper"],
        bus: (bus) => ({
          ...bus,
          publish(subject, bytes) {
            if (!subject.includes(".settled.")) bus.publish(subject, bytes);
          },
        }),
      });
      const request = registry.request();
      const beganMs = performance.now();
      await registry.offer(a, request);
      expect((await registry.response(request)).status).toBe("completed");
      expect(performance.now() - beganMs).toBeLessThan(4 * leaseMs);
    });

    it("that goes on while the parent dies: whoever has the parent next finds its response, and asks for nothing twice", async () => {
      const gate = Promise.withResolvers<void>();
      const helping = Promise.withResolvers<void>();
      await using registry = await open({
        async script(question) {
          if (question.origin.agent === "helper") {
            helping.resolve();
            await gate.promise;
          }
          return leading(question);
        },
      });
      const a = await registry.machine("a", { agents: ["main"] });
      await registry.machine("b", { agents: ["helper"] });
      const request = registry.request();
      await registry.offer(a, request);
      await helping.promise;
      a.die();
      gate.resolve();
      await registry.machine("c", { agents: ["main"] });
      const response = await registry.response(request);
      expect([response.status, response.details.includes("helped"), registry.asked]).toEqual([
        "completed",
        true,
        ["a main/1", "b helper/1", "c main/2"],
      ]);
      expect(wrongIn(await registry.entries(request))).toEqual([]);
    });

    it("that dies: the parent hears of it from whoever takes the child over", async () => {
      await using registry = await open({
        script(question, at) {
          if (at.name === "b") at.die();
          return leading(question);
        },
      });
      const a = await registry.machine("a", { agents: ["main"] });
      await registry.machine("b", { agents: ["helper"] });
      const request = registry.request();
      await registry.offer(a, request);
      await until(() => registry.asked.includes("b helper/1"));
      await registry.machine("c", { agents: ["helper"] });
      expect((await registry.response(request)).status).toBe("completed");
      expect(registry.asked).toEqual(["a main/1", "b helper/1", "c helper/1", "a main/2"]);
    });
  });

  it("one that lacks a tool of a run leaves it to the one that has it, and says so once", async () => {
    const everybody: HostDirectory = {
      list: () => [],
      serving: async () => [],
      served: () => new Map(),
      onChange: () => () => {},
    };
    await using registry = await open({
      script: ({ origin }, at) => {
        if (at.name === "a") at.die();
        return origin.step === 1 ? { calls: [call("put")] } : { text: `done by ${at.name}` };
      },
    });
    const a = await registry.machine("a");
    const request = registry.request();
    await registry.offer(a, request);
    await until(() => registry.asked.length === 1);
    const poor = await registry.machine("poor", { hosts: everybody, tools: ["look"] });
    await until(() => poor.logged.includes("run left to another host"));
    await registry.machine("rich", { hosts: everybody });
    expect(await registry.response(request)).toMatchObject({ status: "completed", summary: "done by rich" });
    expect(poor.logged.filter((line) => line === "run left to another host")).toHaveLength(1);
    expect((await registry.entries(request)).some(({ host }) => host === "poor")).toBe(false);
  });

  describe("a run whose task is lost with its queue", () => {
    it("is given out as if it were new, and is taken from nobody who has it", async () => {
      const gate = Promise.withResolvers<void>();
      await using registry = await open({
        script: async (_, at) => {
          await gate.promise;
          return { text: `done by ${at.name}` };
        },
      });
      const a = await registry.machine("a", { capacity: 1 });
      const b = await registry.machine("b", { agents: [] });
      const request = registry.request();
      await registry.offer(a, request);
      await until(() => a.host.activeRuns() === 1);
      await registry.loseTask(request);
      const c = await registry.machine("c");
      expect(await registry.offer(b, request)).toBe("offered");
      await until(() => c.logged.includes("run is held by another host"));
      gate.resolve();
      expect((await registry.response(request)).summary).toBe("done by a");
      expect(new Set((await registry.entries(request)).map(({ host }) => host))).toEqual(new Set(["a"]));
    });

    it("is offered again by whoever looks after open runs, once its host is gone as well", async () => {
      await using registry = await open({
        script: (_, at) => {
          if (at.name === "a") at.die();
          return { text: `done by ${at.name}` };
        },
      });
      const a = await registry.machine("a");
      const b = await registry.machine("b", { agents: [] });
      const request = registry.request();
      await registry.offer(b, request);
      await until(() => registry.asked.length === 1);
      await registry.loseTask(request);
      await registry.machine("c");
      const resumer = await resumeOpenRuns(b.deps);
      expect(resumer.offered).toEqual([]);
      expect((await registry.response(request)).summary).toBe("done by c");
      resumer.stop();
      expect(a.host.activeRuns()).toBe(1);
    });
  });
});
