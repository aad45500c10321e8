/** The host connects machines and ports: delegation over queue and bus, retries, resumption, cancel. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunRequest } from "@troupe/core";
import { openEntry, protocolVersion } from "@troupe/core/internal";
import { createCountingIds, createMemoryBus } from "@troupe/core/memory";
import { afterEach, describe, expect, it } from "vitest";
import { type ActorHost, createActorHost } from "./actor-host.ts";
import {
  ask,
  createTestDeps,
  delegate,
  networkFailure,
  rootRequest,
  type Script,
  type TestDeps,
  toolCall,
} from "./host-deps.test-helper.ts";
import { recoverOpenRuns } from "./recovery/resume-open-runs.ts";

const run = "0198a000-0000-7000-8000-000000000001";
const main = {
  id: "main",
  subagents: { allow: ["helper", "tester", "other"], deny: [], execution: "parallel" as const, max_concurrent: 5 },
};
const helper = { id: "helper", retry: { maxAttempts: 2, backoffMs: 1, on: ["network" as const] } };
const hosts: ActorHost[] = [];

async function startHost(deps: TestDeps, capacity = 4): Promise<ActorHost> {
  const host = createActorHost({ deps, capacity });
  hosts.push(host);
  await host.start();
  return host;
}

async function kindsOf(deps: TestDeps, request: Pick<RunRequest, "session" | "run">): Promise<string[]> {
  return (await deps.journal.readRun(request.session, request.run)).map((text) => openEntry(text).kind);
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

describe("a host", () => {
  it("runs one agent from request to response, every step in its journal", async () => {
    const deps = createTestDeps({
      agents: [main],
      script: ({ origin }) => (origin.step === 1 ? { calls: [toolCall("echo", { x: 1 })] } : { text: "done" }),
    });
    await startHost(deps);
    const request = rootRequest({ run });
    const response = await ask(deps, request);
    expect(response).toMatchObject({ status: "completed", summary: "done", toolsUsed: ["echo"] });
    expect(response.metrics).toMatchObject({ iterations: 2, toolCalls: 1, totalTokens: 30 });
    expect(await kindsOf(deps, request)).toEqual([
      "run.opened",
      "model.replied",
      "tool.finished",
      "model.replied",
      "run.settled",
    ]);
  });

  it("lets children run in parallel, retries the one that failed, and sums the tree", async () => {
    const script: Script = ({ origin }) => {
      const { agent, step, task, attempt } = origin;
      if (agent === "main" && step === 1)
        return { calls: [delegate("helper", "a"), delegate("helper", "b"), delegate("tester", "c")] };
      if (task === "b" && attempt === 1) throw networkFailure();
      return { text: `${agent} did ${task}` };
    };
    const deps = createTestDeps({ agents: [main, helper, { id: "tester" }], script });
    await startHost(deps);
    const request = rootRequest({ run });
    const response = await ask(deps, request);
    expect(response.status).toBe("completed");
    expect(response.metrics.subtree).toMatchObject({ runs: 5, iterations: 6 });
    expect(deps.modelCalls).toContain("helper/2/1");
  });

  it("runs an agent that has no sub-agents", async () => {
    const tools: string[][] = [];
    const deps = createTestDeps({
      agents: [{ id: "main" }],
      script: (request) => {
        tools.push(request.tools.map(({ name }) => name));
        return request.origin.step === 1 ? { calls: [toolCall("echo")] } : { text: "done" };
      },
    });
    await startHost(deps);
    const response = await ask(deps, rootRequest({ run }));
    expect(response).toMatchObject({ status: "completed", toolsUsed: ["echo"], metrics: { subtree: { runs: 1 } } });
    expect(tools.flat()).not.toContain("delegate");
  });

  it("lets the model choose at each step whom it asks", async () => {
    const answers: Record<string, string> = { helper: "ask the tester", tester: "it works" };
    const canDelegate: boolean[] = [];
    const script: Script = ({ origin, messages, tools }) => {
      if (origin.agent === "main") canDelegate.push(tools.some(({ name }) => name === "delegate"));
      if (origin.agent !== "main") return { text: answers[origin.agent] ?? "" };
      if (origin.step === 1) return { calls: [delegate("helper", "look")] };
      const isAdvised = messages.at(-1)?.text.includes("ask the tester");
      return isAdvised ? { calls: [delegate("tester", "look")] } : { text: "done" };
    };
    const deps = createTestDeps({ agents: [main, helper, { id: "tester" }, { id: "other" }], script });
    await startHost(deps);
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
    expect(deps.modelCalls).toEqual(["main/1/1", "helper/1/1", "main/1/2", "tester/1/1", "main/1/3"]);
    expect(canDelegate).toEqual([true, true, true]);
  });

  it("has all children of one turn at work at the same time", async () => {
    const tasks = ["a", "b", "c"];
    const begun: string[] = [];
    const atWork: number[] = [];
    const script: Script = async ({ origin }) => {
      if (origin.agent === "main")
        return origin.step === 1 ? { calls: tasks.map((task) => delegate("helper", task)) } : { text: "done" };
      begun.push(origin.task);
      const deadlineMs = performance.now() + 5_000;
      while (begun.length < tasks.length && performance.now() < deadlineMs) await sleep(1);
      atWork.push(begun.length);
      return { text: "done" };
    };
    const deps = createTestDeps({ agents: [main, helper], script });
    await startHost(deps);
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
    expect(atWork).toEqual([3, 3, 3]);
  });

  it("needs less than 10 MB for a child at work", async () => {
    const children = 20;
    const gate = Promise.withResolvers<void>();
    const full = Promise.withResolvers<number>();
    const usedBytes = (): number => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    let begun = 0;
    const script: Script = async ({ origin }) => {
      if (origin.agent === "main")
        return origin.step === 1
          ? { calls: Array.from({ length: children }, (_, i) => delegate("helper", `part ${i}`)) }
          : { text: "done" };
      begun += 1;
      if (begun === children) full.resolve(usedBytes());
      await gate.promise;
      return { text: "done" };
    };
    const subagents = { allow: ["helper"], max_concurrent: children };
    const lead = { id: "main", subagents, limits: { maxConcurrent: children } };
    const deps = createTestDeps({ agents: [lead, helper], script });
    await startHost(deps, children + 1);
    const before = usedBytes();
    const answer = ask(deps, rootRequest({ run }));
    const bytesPerChild = ((await full.promise) - before) / children;
    gate.resolve();
    expect(await answer).toMatchObject({ status: "completed", metrics: { subtree: { runs: children + 1 } } });
    expect(bytesPerChild).toBeLessThan(10 * 1024 * 1024);
  });

  it("finds a task that arrives during a search for others", async () => {
    const deps = createTestDeps({ agents: [main], script: () => ({ text: "done" }) });
    const { queue } = deps;
    const looked = Promise.withResolvers<void>();
    const offered = Promise.withResolvers<void>();
    deps.queue = {
      ...queue,
      async take(request) {
        const tasks = await queue.take(request);
        looked.resolve();
        await offered.promise;
        return tasks;
      },
    };
    // Without a sweep there is only the hint.
    const host = createActorHost({ deps, pollMs: 600_000 });
    hosts.push(host);
    await host.start();
    await looked.promise;
    const answer = ask(deps, rootRequest({ run }));
    await new Promise((resolve) => setImmediate(resolve));
    offered.resolve();
    expect(await answer).toMatchObject({ status: "completed" });
  });

  it("retries a task whose run could not be claimed, as soon as the cause may have passed", async () => {
    const deps = createTestDeps({ agents: [main], script: () => ({ text: "done" }) });
    const { journal } = deps;
    let failures = 1;
    deps.journal = {
      ...journal,
      append: (append) => (failures-- > 0 ? Promise.reject(new Error("EIO")) : journal.append(append)),
    };
    await startHost(deps);
    expect(await ask(deps, rootRequest({ run }))).toMatchObject({ status: "completed" });
    expect(failures).toBeLessThan(0);
  });

  it("settles a run as crashed if an outcome cannot be written", async () => {
    let broken = false;
    const script: Script = () => {
      broken = true;
      return { text: "done" };
    };
    const deps = createTestDeps({ agents: [main], script });
    deps.failpoint = {
      at(point) {
        if (!broken || point !== "append:before") return;
        broken = false;
        throw new Error("no pen");
      },
    };
    await startHost(deps);
    const response = await ask(deps, rootRequest({ run }));
    expect(response).toMatchObject({
      status: "failed",
      error: { type: "crashed", message: "the run crashed: no pen" },
    });
  });

  it("reads a response that is too large for a message from the journal", async () => {
    const deps = createTestDeps({
      agents: [main, helper],
      script: ({ origin }) => {
        if (origin.agent === "helper") return { text: "long ".repeat(2_000) };
        return origin.step === 1 ? { calls: [delegate("helper", "a")] } : { text: "done" };
      },
    });
    deps.bus = createMemoryBus({ payloadBytesMax: 8_000 });
    await startHost(deps);
    const response = await ask(deps, rootRequest({ run }));
    expect(response.metrics.subtree.runs).toBe(2);
  });

  it("does not starve nested delegation when every slot is taken by a waiting parent", async () => {
    const nested = { ...main, id: "helper", subagents: { ...main.subagents, allow: ["tester"] } };
    const script: Script = ({ origin }) => {
      if (origin.step > 1 || origin.agent === "tester") return { text: "done" };
      const target = origin.agent === "main" ? "helper" : "tester";
      return { calls: [delegate(target, "1"), delegate(target, "2")] };
    };
    const deps = createTestDeps({ agents: [main, nested, { id: "tester" }], script });
    await startHost(deps, 1);
    const response = await ask(deps, rootRequest({ run }));
    expect(response.metrics.subtree.runs).toBe(7);
  });

  it("calls models for at most as many runs at once as it has capacity, over all sessions and their children", async () => {
    let calling = 0;
    let mostCalling = 0;
    const script: Script = async ({ origin }) => {
      calling += 1;
      mostCalling = Math.max(mostCalling, calling);
      // Long enough for every other run that is free to begin its own call.
      await new Promise((resolve) => setTimeout(resolve, 5));
      calling -= 1;
      const isParent = origin.agent === "main" && origin.step === 1;
      return isParent ? { calls: [delegate("helper", "a"), delegate("helper", "b")] } : { text: "done" };
    };
    const deps = createTestDeps({ agents: [main, helper], script });
    await startHost(deps, 2);
    const ids = createCountingIds();
    const requests = Array.from({ length: 4 }, () => rootRequest({ run: ids.next(), session: ids.next() }));
    const responses = await Promise.all(requests.map((request) => ask(deps, request)));
    expect(responses.map(({ status, metrics }) => [status, metrics.subtree.runs])).toEqual(
      Array.from({ length: 4 }, () => ["completed", 3]),
    );
    expect(mostCalling).toBe(2);
  });

  it("of a run that died is replaced by another one, which repeats no completed call", async () => {
    const hang = Promise.withResolvers<never>();
    const reached = Promise.withResolvers<void>();
    const before = createTestDeps({
      agents: [main, helper],
      script: ({ origin }) => {
        if (origin.agent === "main" && origin.step === 1)
          return { calls: [delegate("helper", "a"), delegate("helper", "b")] };
        if (origin.task === "b") {
          reached.resolve();
          return hang.promise;
        }
        return { text: "fine" };
      },
    });
    const lost = createActorHost({ deps: before });
    await lost.start();
    const request = rootRequest({ run });
    void ask(before, request);
    await reached.promise;
    while (!(await kindsOf(before, request)).includes("child.settled"))
      await new Promise((resolve) => setImmediate(resolve));

    const after = createTestDeps({ agents: [main, helper], script: () => ({ text: "after" }), keep: before });
    const answer = ask(after, request);
    await startHost(after);
    await recoverOpenRuns(after.journal, after.queue);
    const response = await answer;
    expect(response).toMatchObject({ status: "completed", details: "after" });
    expect(after.modelCalls.sort()).toEqual(["helper/1/1", "main/1/2"]);
  });

  it("reports an interrupted unsafe call as in doubt, and does not repeat it", async () => {
    const reached = Promise.withResolvers<void>();
    const script: Script = ({ origin, messages }) =>
      origin.step === 1 ? { calls: [toolCall("danger")] } : { text: messages.at(-1)?.text ?? "" };
    const before = createTestDeps({
      agents: [main],
      script,
      tools: {
        run: () => {
          reached.resolve();
          return new Promise(() => {});
        },
      },
    });
    const lost = createActorHost({ deps: before });
    await lost.start();
    const request = rootRequest({ run });
    void ask(before, request);
    await reached.promise;

    const after = createTestDeps({ agents: [main], script, keep: before });
    const answer = ask(after, request);
    await startHost(after);
    await recoverOpenRuns(after.journal, after.queue);
    const response = await answer;
    expect(after.toolCalls).toEqual([]);
    expect(response.details).toMatch(/^IN DOUBT/);
    expect(response.warnings).toHaveLength(1);
  });

  it("stops a run and its children when their session is cancelled", async () => {
    const reached = Promise.withResolvers<void>();
    const stopped: string[] = [];
    const script: Script = ({ origin }, signal) => {
      if (origin.agent === "main") return { calls: [delegate("helper", "a")] };
      reached.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          stopped.push(origin.agent);
          reject(new Error("aborted"));
        }),
      );
    };
    const deps = createTestDeps({ agents: [main, helper], script });
    await startHost(deps);
    const request = rootRequest({ run });
    const answer = ask(deps, request);
    await reached.promise;
    await deps.journal.appendInbox({
      v: protocolVersion,
      kind: "session.cancelled",
      at: 1,
      session: request.session,
      reason: "enough",
    });
    const announcement = { v: protocolVersion, kind: "inbox.announced", session: request.session };
    deps.bus.publish(deps.subjects.control("all"), new TextEncoder().encode(JSON.stringify(announcement)));
    expect(await answer).toMatchObject({ status: "cancelled", error: { message: "enough" } });
    expect(stopped).toEqual(["helper"]);
  });

  it("settles a run as crashed after several claims without progress", async () => {
    const reached = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const request = rootRequest({ run });
    let deps = createTestDeps({ agents: [main], script: () => ({}) });
    for (const [i, each] of reached.entries()) {
      const script = (): Promise<never> => {
        each.resolve();
        return new Promise(() => {});
      };
      // Each life has a name of its own: of one and the same, two openings in a millisecond are one that was repeated.
      deps = { ...createTestDeps({ agents: [main], keep: deps, script }), hostId: `life-${i}` };
      const lost = createActorHost({ deps });
      await lost.start();
      await recoverOpenRuns(deps.journal, deps.queue);
      if (each === reached[0]) void ask(deps, request);
      await each.promise;
    }
    const last = createTestDeps({ agents: [main], keep: deps, script: () => ({ text: "never" }) });
    const answer = ask(last, request);
    await startHost(last);
    await recoverOpenRuns(last.journal, last.queue);
    expect(await answer).toMatchObject({ status: "failed", error: { type: "crashed" } });
    expect(last.modelCalls).toEqual([]);
  });

  it("parks a run when it is stopped on purpose, which does not count as a crash", async () => {
    const reached = Promise.withResolvers<void>();
    const deps = createTestDeps({
      agents: [main],
      script: () => {
        reached.resolve();
        return new Promise(() => {});
      },
    });
    const host = await startHost(deps);
    const request = rootRequest({ run });
    void ask(deps, request);
    await reached.promise;
    await host.stop({ graceMs: 5 });
    expect(await kindsOf(deps, request)).toEqual(["run.opened", "run.parked"]);
  });
});
