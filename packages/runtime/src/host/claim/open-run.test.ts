/** Another turn of a session: its run knows the turns before, however they ended. */

import { tmpdir } from "node:os";
import { Limits, type Message, type RunRequest, SubmitSession as SubmitSchema, type SubmitSession } from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import { afterEach, describe, expect, it } from "vitest";
import { beginSession } from "../../service/begin-session.ts";
import { createContinue } from "../../service/continue-session.ts";
import {
  createTestDeps,
  delegate,
  endsWith,
  entriesOnce,
  rootRequest,
  type Script,
  type TestDeps,
  toolCall,
} from "../host-deps.test-helper.ts";
import { recoverOpenRuns } from "../recovery/resume-open-runs.ts";
import { kinds, startHost, stopHosts } from "../run/commands.test-helper.ts";
import { sendCommand } from "../run/send-command.ts";

afterEach(stopHosts);

const agents = [{ id: "main", subagents: { allow: ["helper"] } }, { id: "helper" }];
const run = "0198a000-0000-7000-8000-000000000001";
const first = rootRequest({ run, task: "one", workspace: { id: "w1", path: tmpdir() } });
const { session } = first;
const head = { v: 1 as const, at: 1, session };

/** A model that records its messages, by run. */
function listening(script: Script): { script: Script; sent: Map<string, readonly Message[]> } {
  const sent = new Map<string, readonly Message[]>();
  return {
    sent,
    script: (question, signal) => {
      sent.set(question.origin.run, question.messages);
      return script(question, signal);
    },
  };
}

async function begin(deps: TestDeps): Promise<void> {
  await beginSession(deps, first, { origin: "api", demo: false });
}

/** Asks for the next turn, and says which run it is. */
async function goOn(deps: TestDeps, task: string, command: Partial<SubmitSession> = {}): Promise<string> {
  const model = { id: "test/model", demo: false };
  const options = {
    deps,
    ids: createCountingIds(),
    workspaces: "",
    model,
    resolveScenario: async (name: string) => name,
  };
  const run = command.run ?? `0198a000-0000-7000-8000-0000000000${task.length}f`;
  return (await createContinue(options)(session, SubmitSchema.parse({ task, run, continues: session, ...command })))
    .run;
}

async function settled(deps: TestDeps, run: string) {
  const last = (await entriesOnce(deps, { session, run }, endsWith("run.settled"))).at(-1);
  if (last?.kind !== "run.settled") throw new Error("not settled");
  return last.response;
}

const user = (text: string): Message => ({ role: "user", text });
const reply = (text: string): Message => ({ role: "assistant", text, calls: [] });

describe("another turn of a session", () => {
  it("starts with the conversation of all earlier turns, without their prompts", async () => {
    const { script, sent } = listening(({ origin }) => {
      if (origin.task === "one" && origin.step === 1) return { text: "let me see", calls: [toolCall("echo")] };
      return { text: `answer to ${origin.task}` };
    });
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    await begin(deps);
    await settled(deps, run);
    const second = await goOn(deps, "second");
    expect(await settled(deps, second)).toMatchObject({ status: "completed", details: "answer to second" });
    const third = await goOn(deps, "the third");
    await settled(deps, third);
    const turnOne: Message[] = [
      user("one"),
      { role: "assistant", text: "let me see", calls: [toolCall("echo")] },
      { role: "tool", callId: "call-echo", name: "echo", text: "echo {}", isError: false },
      reply("answer to one"),
    ];
    expect(sent.get(second)).toEqual([...turnOne, user("second")]);
    expect(sent.get(third)).toEqual([...turnOne, user("second"), reply("answer to second"), user("the third")]);
  });

  it("includes the earlier turns in the length of its conversation", async () => {
    const script: Script = ({ origin }) => ({ text: origin.run === run ? "a long answer ".repeat(500) : "short" });
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    await begin(deps);
    const before = (await settled(deps, run)).metrics.contextSize;
    const second = await goOn(deps, "second");
    expect((await settled(deps, second)).metrics.contextSize).toBeGreaterThan(before);
  });

  it("continues after a turn that was cancelled during a call: every call has a result, and the command no longer applies", async () => {
    const reached = Promise.withResolvers<void>();
    const { script, sent } = listening(({ origin }) => {
      if (origin.run === run) return { calls: [toolCall("echo")] };
      if (origin.agent === "helper") return { text: "helped" };
      return origin.step === 1 ? { calls: [delegate("helper", "help")] } : { text: "done" };
    });
    const tools = {
      run: (_: unknown, { signal }: { signal: AbortSignal }) => {
        reached.resolve();
        return new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      },
    };
    const deps = createTestDeps({ agents, script, tools });
    await startHost(deps);
    await begin(deps);
    await reached.promise;
    await sendCommand(deps, { ...head, kind: "session.cancelled", reason: "enough" });
    expect(await settled(deps, run)).toMatchObject({ status: "cancelled" });

    const second = await goOn(deps, "second");
    expect(await settled(deps, second)).toMatchObject({ status: "completed", metrics: { subtree: { runs: 2 } } });
    const [, asked, result, ending, last] = sent.get(second) ?? [];
    expect([asked?.role, result?.role]).toEqual(["assistant", "tool"]);
    expect(result).toMatchObject({ callId: "call-echo", isError: true, text: expect.stringContaining("no result") });
    expect(ending).toEqual(user("The turn before this one ended without an answer (cancelled: enough)."));
    expect(last).toEqual(user("second"));
  });

  it("can be cancelled itself", async () => {
    const reached = Promise.withResolvers<void>();
    const script: Script = ({ origin }, signal) => {
      if (origin.run === run) return { text: "one" };
      reached.resolve();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    await begin(deps);
    await settled(deps, run);
    const second = await goOn(deps, "second");
    await reached.promise;
    await sendCommand(deps, { ...head, kind: "session.cancelled", reason: "not this" });
    expect(await settled(deps, second)).toMatchObject({ status: "cancelled", error: { message: "not this" } });
  });

  it("that waits for a person after a cancelled turn stays parked, without repeated wake-ups", async () => {
    const script: Script = ({ origin }) =>
      origin.run === run ? { text: "one" } : { calls: [toolCall("deploy", { to: "prod" })] };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    await deps.journal.appendInbox({ ...head, kind: "session.requested", request: first, origin: "api", demo: false });
    await sendCommand(deps, { ...head, kind: "session.cancelled", reason: "enough" });
    await recoverOpenRuns(deps.journal, deps.queue);
    expect(await settled(deps, run)).toMatchObject({ status: "cancelled" });
    const second = await goOn(deps, "second");
    const parked = await entriesOnce(deps, { session, run: second }, endsWith("run.parked"));
    expect(kinds(parked)).toEqual(["run.opened", "model.replied", "approval.requested", "run.parked"]);
    expect(await recoverOpenRuns(deps.journal, deps.queue)).toEqual([]);
    expect(await deps.queue.take({ agents: "all", localities: "all", max: 9 })).toEqual([]);
  });

  it("that no host has claimed is found by the next process", async () => {
    const script: Script = ({ origin }) => ({ text: `answer to ${origin.task}` });
    const before = createTestDeps({ agents, script });
    const host = await startHost(before);
    await begin(before);
    await settled(before, run);
    await host.stop({ graceMs: 50 });
    const second = await goOn(before, "second");

    const after = createTestDeps({ agents, script, keep: before });
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([second]);
    expect(await settled(after, second)).toMatchObject({ status: "completed", details: "answer to second" });
  });

  it.each<[string, Partial<RunRequest>]>([
    ["never was", { continues: "0198a000-0000-7000-8000-00000000dead" }],
    ["has not ended", { continues: "0198a000-0000-7000-8000-0000000000aa" }],
  ])("that continues a run that %s is rejected, with the reason", async (_, changes) => {
    const deps = createTestDeps({ agents, script: () => ({ text: "x" }) });
    await startHost(deps);
    const request = { ...first, ...changes, run: "0198a000-0000-7000-8000-0000000000aa" };
    await beginSession(deps, request, { origin: "api", demo: false });
    expect(await settled(deps, request.run)).toMatchObject({
      status: "rejected",
      error: { type: "params", message: expect.stringContaining(String(changes.continues)) },
    });
    expect(deps.modelCalls).toEqual([]);
  });

  it("after a turn that reached a cap continues from its last text, or from its reason", async () => {
    const { script, sent } = listening(({ origin }) =>
      origin.run === run ? { text: "still at it", calls: [toolCall("echo")] } : { text: "done" },
    );
    const deps = createTestDeps({ agents: [{ id: "main", limits: { maxIterations: 1 } }], script });
    await startHost(deps);
    await begin(deps);
    expect(await settled(deps, run)).toMatchObject({ status: "bailed_out" });
    const second = await goOn(deps, "second", { limits: Limits.partial().parse({}) });
    await settled(deps, second);
    const calls = (sent.get(second) ?? []).flatMap((message) => (message.role === "assistant" ? message.calls : []));
    const results = (sent.get(second) ?? []).filter(({ role }) => role === "tool");
    expect(calls).toHaveLength(1);
    expect(results).toMatchObject([{ callId: "call-echo", isError: true }]);
  });
});
