/** A run gets its entries just before they are durable; no effect of them starts before they are. */
import type { Entry } from "@troupe/core";
import { afterEach, describe, expect, it } from "vitest";
import {
  ask,
  createTestDeps,
  delegate,
  endsWith,
  entriesOf,
  entriesOnce,
  type Script,
  type TestDeps,
  toolCall,
} from "../host-deps.test-helper.ts";
import { agents, childOf, head, request, run, session, startHost, stopHosts } from "./commands.test-helper.ts";
import { sendCommand } from "./send-command.ts";

afterEach(stopHosts);

type Journal = TestDeps["journal"];

/** The entry kinds of each append of a run, in order. */
function appendsIn(deps: TestDeps): { of(run: string): string[] } {
  const { journal } = deps;
  const appends: { run: string; kinds: string }[] = [];
  deps.journal = {
    ...journal,
    append(append) {
      const kinds = append.entries.map(({ text }) => (JSON.parse(text) as Entry).kind);
      appends.push({ run: append.run, kinds: kinds.join(" ") });
      return journal.append(append);
    },
  };
  return { of: (run) => appends.filter((append) => append.run === run).map(({ kinds }) => kinds) };
}

/** Stops the root's first append with such an entry or command. */
function haltAt(deps: TestDeps, kind: string, act: (append: () => ReturnType<Journal["append"]>) => unknown) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { journal } = deps;
  let isFirst = true;
  deps.journal = {
    ...journal,
    async append(append) {
      const isIt =
        isFirst && append.run === run && append.entries.some(({ text }) => text.includes(`"kind":"${kind}"`));
      if (!isIt) return await journal.append(append);
      isFirst = false;
      reached.resolve();
      await gate.promise;
      return (await act(() => journal.append(append))) as Awaited<ReturnType<Journal["append"]>>;
    },
  };
  return { reached: reached.promise, goOn: gate.resolve };
}

const tooLate = async () => ({ ok: false as const, lastIndex: 7 });

/** Everything that could happen without time passing has happened. */
const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The published events of a run. */
async function eventsOf(deps: TestDeps): Promise<string[]> {
  const events: string[] = [];
  await deps.bus.subscribe(deps.subjects.settled(run), () => void events.push("settled"));
  await deps.bus.subscribe(deps.subjects.live(session, run), ({ bytes }) => {
    const event = JSON.parse(new TextDecoder().decode(bytes)) as { kind: string; state?: string };
    events.push(event.state ? `${event.kind} ${event.state}` : event.kind);
  });
  return events;
}

const echoing: Script = ({ origin }) => (origin.step === 1 ? { calls: [toolCall("echo")] } : { text: "done" });

describe("entries that follow at once", () => {
  it("are stored in the same append: a plan with its reply, an end with the last outcome", async () => {
    const script: Script = ({ origin }) =>
      origin.agent === "main" && origin.step === 1 ? { calls: [delegate("helper", "go")] } : { text: "done" };
    const deps = createTestDeps({ agents, script });
    const appends = appendsIn(deps);
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });
    expect(appends.of(run)).toEqual([
      "run.opened",
      "model.replied calls.planned",
      "child.settled",
      "model.replied run.settled",
    ]);
    expect(appends.of((await childOf(deps)).run)).toEqual(["run.opened", "model.replied run.settled"]);
  });
});

describe("an effect of an entry that is not stored yet", () => {
  it("does not start: a tool runs once its call is durable", async () => {
    const deps = createTestDeps({ agents, script: echoing });
    const halt = haltAt(deps, "model.replied", (append) => append());
    await startHost(deps);
    const response = ask(deps, request);
    await halt.reached;
    await quiet();
    expect(deps.toolCalls).toEqual([]);
    halt.goOn();
    expect(await response).toMatchObject({ status: "completed" });
    expect(deps.toolCalls).toEqual([`${run}/1/0`]);
  });

  it("is not published: the end of a run", async () => {
    const deps = createTestDeps({ agents, script: () => ({ text: "done" }) });
    const halt = haltAt(deps, "run.settled", (append) => append());
    const events = await eventsOf(deps);
    await startHost(deps);
    const response = ask(deps, request);
    await halt.reached;
    await quiet();
    expect(events).toEqual(["run.claimed", "state.entered think"]);
    halt.goOn();
    await response;
    expect(events.at(-1)).toBe("settled");
  });

  it("is not published: the wait for an approval", async () => {
    const deps = createTestDeps({ agents, script: () => ({ calls: [toolCall("deploy")] }) });
    const halt = haltAt(deps, "approval.requested", (append) => append());
    const events = await eventsOf(deps);
    await startHost(deps);
    void ask(deps, request);
    await halt.reached;
    await quiet();
    expect(events).not.toContain("run.waiting");
    halt.goOn();
    await entriesOnce(deps, request, endsWith("run.parked"));
    expect(events).toContain("run.waiting");
  });

  it("never starts if another host was faster: the run belongs to that host", async () => {
    const deps = createTestDeps({ agents, script: echoing });
    const halt = haltAt(deps, "model.replied", tooLate);
    const events = await eventsOf(deps);
    const host = await startHost(deps);
    void ask(deps, request);
    await halt.reached;
    halt.goOn();
    await quiet();
    expect([deps.toolCalls, host.activeRuns(), events.includes("settled")]).toEqual([[], 0, false]);
    expect((await entriesOf(deps, request)).map(({ kind }) => kind)).toEqual(["run.opened"]);
  });

  it("starts once the journal stores the entry, after any number of failures", async () => {
    const deps = createTestDeps({ agents, script: echoing });
    const { journal } = deps;
    const failures = ["full", "still full"];
    const { clock } = deps;
    deps.clock = { ...clock, after: (ms, then) => clock.after(ms === 1_000 ? 1 : ms, then) };
    deps.journal = {
      ...journal,
      async append(append) {
        const why = append.entries.length > 1 ? failures.shift() : undefined;
        if (why) throw new Error(why);
        return await journal.append(append);
      },
    };
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });
    expect(deps.toolCalls).toEqual([`${run}/1/0`]);
  });

  it("waits after a pause, too: until the command that ends it is durable", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tasks = [
      { agent: "other", task: "quick" },
      { agent: "helper", task: "slow" },
    ];
    const script: Script = async ({ origin: { agent, step } }) => {
      if (agent === "main" && step === 1)
        return { calls: [toolCall("delegate", { tasks, mode: "parallel_streaming" })] };
      if (agent !== "main") await (agent === "other" ? first : second).promise;
      return { text: "done" };
    };
    const deps = createTestDeps({ agents, script });
    const halt = haltAt(deps, "run.resumed", (append) => append());
    await startHost(deps);
    const response = ask(deps, request);
    while (deps.modelCalls.length < 3) await quiet();
    await deps.journal.appendInbox({ ...head, kind: "run.paused", run, by: "a" });
    first.resolve();
    await entriesOnce(deps, request, endsWith("inbox.received"));
    await sendCommand(deps, { ...head, kind: "run.resumed", run, by: "a" });
    await halt.reached;
    await quiet();
    expect(deps.modelCalls).not.toContain("main/1/2");
    halt.goOn();
    second.resolve();
    expect(await response).toMatchObject({ status: "completed" });
    expect(deps.modelCalls).toContain("main/1/2");
  });
});

describe("a command that arrives during a claim", () => {
  it("is known before the first model call, even if the inbox was read too early and the announcement was missed", async () => {
    const deps = createTestDeps({ agents, script: () => ({ text: "never" }) });
    const halt = haltAt(deps, "run.opened", (append) => append());
    await startHost(deps);
    const response = ask(deps, request);
    await halt.reached;
    await quiet();
    await sendCommand(deps, { ...head, kind: "session.cancelled", reason: "enough" });
    await quiet();
    halt.goOn();
    expect(await response).toMatchObject({ status: "cancelled" });
    expect(deps.modelCalls).toEqual([]);
  });
});
