/** One request out, one response back, and the other actions of a parent while it waits. */
import { RunRequest, ToolOutcome } from "@troupe/core";
import {
  decode,
  type EffectOf,
  encode,
  type HostView,
  notStartedResponse,
  permanentError,
} from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { claimRun } from "../claim/claim-run.ts";
import { rootRequest, writeEntries } from "../host-deps.test-helper.ts";
import { createRunDeps } from "../run-deps.ts";
import { cancelChild } from "./cancel-child.ts";
import { runChild } from "./run-child.ts";
import { createScope, liveOf, run, settle, type TestScope } from "./scope.test-helper.ts";

const child = "0198a000-0000-7000-8000-00000000000c";
const agents = [{ id: "main", subagents: { allow: ["helper"] } }, { id: "helper" }];
const request = rootRequest({ run: child, agent: "helper", attempt: 2, ancestors: [run] });

function running(changes: Partial<RunRequest> = {}): EffectOf<"runChild"> {
  return { kind: "runChild", run, step: 3, call: 1, item: 4, request: { ...request, ...changes } };
}

const place = { step: 3, call: 1, item: 4, attempt: 2 };
const response = notStartedResponse(request, "failed", permanentError("model", "gone"));

function answer(scope: TestScope): void {
  const message = { v: 1, kind: "run.settled", session: request.session, run: child, response };
  scope.deps.bus.publish(scope.deps.subjects.settled(child), encode(message));
}

async function offered(scope: TestScope): Promise<RunRequest[]> {
  const tasks = await scope.deps.queue.take({ agents: "all", localities: "all", max: 9 });
  return tasks.map(({ bytes }) => decode(RunRequest, bytes, "task"));
}

describe("a child", () => {
  test("is offered as requested, and its one response is the outcome", async () => {
    const scope = await createScope({ agents });
    const outcome = runChild(running(), scope);
    await settle();
    expect(await offered(scope)).toEqual([request]);
    answer(scope);
    expect(await outcome).toEqual({ kind: "child.settled", ...place, response });
  });

  test("gets its named files", async () => {
    const scope = await createScope({ agents, tools: { run: async () => ToolOutcome.parse({ output: "alpha" }) } });
    void runChild(running({ contextFiles: ["a.md"], context: "so far" }), scope);
    await settle();
    expect(await offered(scope)).toMatchObject([{ run: child, context: "so far\n\nFile a.md:\n```\nalpha\n```" }]);
    scope.stop();
  });

  test("does not start if a file cannot be passed on: the response names the file", async () => {
    const error = { type: "permission" as const, message: "outside of the workspace", recoverable: false };
    const scope = await createScope({ agents, tools: { run: async () => ToolOutcome.parse({ output: "", error }) } });
    expect(await runChild(running({ contextFiles: ["../a"] }), scope)).toMatchObject({
      kind: "child.settled",
      ...place,
      response: {
        runId: child,
        status: "rejected",
        error: { type: "permission", message: "the context file ../a cannot be passed on: outside of the workspace" },
        metrics: { subtree: { runs: 0 } },
      },
    });
    expect(await offered(scope)).toEqual([]);
  });

  test("that has begun is offered again after a restart, with any state of its files", async () => {
    const scope = await createScope({ agents, scope: { resumed: true } });
    await claimRun(scope.deps, request, () => scope.deps.agentSource.load(null));
    const error = { type: "params" as const, message: "gone", recoverable: false };
    scope.deps.tools.run = async () => ToolOutcome.parse({ output: "", error });
    void runChild(running({ contextFiles: ["a.md"] }), scope);
    await settle();
    expect(await offered(scope)).toMatchObject([{ run: child }]);
    scope.stop();
  });

  test("that settled while its parent was parked does not start again", async () => {
    const scope = await createScope({ agents, scope: { resumed: true } });
    const unknown = { ...request, agent: "nobody" };
    await claimRun(scope.deps, unknown, () => scope.deps.agentSource.load(null));
    expect(await runChild(running({ agent: "nobody" }), scope)).toMatchObject({
      kind: "child.settled",
      ...place,
      response: { status: "rejected", error: { type: "unknown_agent" } },
    });
    expect(await offered(scope)).toEqual([]);
  });
});

describe("the wait of a child for a person", () => {
  const say = (scope: TestScope, waiting: boolean): void => {
    const event = liveOf(request, { kind: "run.waiting", waiting });
    scope.deps.bus.publish(scope.deps.subjects.live(request.session, child), encode(event));
  };
  const waits = (waiting: boolean) => ({ kind: "child.waiting", ...place, waiting });

  test("is journaled at every change, for as long as the child lives", async () => {
    const scope = await createScope({ agents });
    const outcome = runChild(running(), scope);
    await settle();
    for (const waiting of [false, true, true, false, false, true]) say(scope, waiting);
    await settle();
    expect(scope.recorded).toEqual([waits(true), waits(false), waits(true)]);
    answer(scope);
    await outcome;
    say(scope, false);
    await settle();
    expect(scope.recorded).toHaveLength(3);
  });

  test("is not journaled again after a restart", async () => {
    const scope = await createScope({ agents, scope: { resumed: true, wasWaiting: () => true } });
    void runChild(running(), scope);
    await settle();
    say(scope, true);
    say(scope, false);
    await settle();
    expect(scope.recorded).toEqual([waits(false)]);
    scope.stop();
  });

  test("is read at once after a restart, because it may have begun before", async () => {
    const scope = await createScope({ agents, scope: { resumed: true } });
    const { deps } = scope;
    const pause = { v: 1 as const, at: 1, session: request.session, kind: "run.paused" as const, run, by: "a person" };
    await deps.journal.appendInbox(pause);
    await claimRun(deps, request, () => deps.agentSource.load(null));
    await writeEntries(deps, request, [{ kind: "run.parked", reason: "pause" }]);
    void runChild(running(), scope);
    await settle();
    expect(scope.recorded).toEqual([waits(true)]);
    expect(await offered(scope)).toEqual([]);
    scope.stop();
  });

  test("is unknown for a child that no host has opened", async () => {
    const scope = await createScope({ agents, scope: { wasWaiting: () => true } });
    void runChild(running(), scope);
    await settle();
    scope.clock.advance(20_000);
    await settle();
    expect(scope.recorded).toEqual([]);
    scope.stop();
  });

  test("and its end are found in the child's journal if the bus has lost the message", async () => {
    const scope = await createScope({ agents });
    const { deps, clock } = scope;
    let replays = 0;
    const { readRun } = deps.journal;
    deps.journal.readRun = (...of) => {
      replays += 1;
      return readRun(...of);
    };
    const pass = async (): Promise<void> => {
      clock.advance(5_000);
      await settle();
    };
    const head = { v: 1 as const, at: 1, session: request.session, run, by: "a person" };
    void runChild(running(), scope);
    await settle();
    await deps.journal.appendInbox({ ...head, kind: "run.paused" });
    await claimRun(deps, request, () => deps.agentSource.load(null));
    await pass();
    // Its pause has not stopped the running effects yet, and its newest entry does not show that it waits.
    expect(scope.recorded).toEqual([]);
    await writeEntries(deps, request, [{ kind: "run.parked", reason: "pause" }]);
    replays = 0;
    await pass();
    await pass();
    expect(scope.recorded).toEqual([waits(true)]);
    expect(replays).toBe(1);
    await deps.journal.appendInbox({ ...head, kind: "run.resumed" });
    await claimRun(deps, request, () => deps.agentSource.load(null));
    await pass();
    expect(scope.recorded).toEqual([waits(true), waits(false)]);
    scope.stop();
  });

  test("is taken from the message if the journal read meanwhile is older", async () => {
    const scope = await createScope({ agents });
    const { deps, clock } = scope;
    void runChild(running(), scope);
    await settle();
    const pause = { v: 1 as const, at: 1, session: request.session, kind: "run.paused" as const, run, by: "a person" };
    await deps.journal.appendInbox(pause);
    await claimRun(deps, request, () => deps.agentSource.load(null));
    await writeEntries(deps, request, [{ kind: "run.parked", reason: "pause" }]);
    const { readRun } = deps.journal;
    deps.journal.readRun = async (...of) => {
      const texts = await readRun(...of);
      say(scope, true);
      say(scope, false);
      await settle();
      return texts;
    };
    clock.advance(5_000);
    await settle();
    await settle();
    expect(scope.recorded).toEqual([waits(true), waits(false)]);
    scope.stop();
  });

  test("a claim by a host is a hint with the host's locality", async () => {
    const scope = await createScope({ agents });
    void runChild(running(), scope);
    await settle();
    const event = liveOf(request, { kind: "run.claimed" });
    scope.deps.bus.publish(scope.deps.subjects.live(request.session, child), encode(event));
    await settle();
    expect(scope.hints).toEqual([{ type: "child.claimed", step: 3, call: 1, item: 4 }]);
    scope.stop();
  });
});

describe("the stop of a child", () => {
  const effect = { ...running(), kind: "cancelChild" as const, reason: "no longer needed" };
  const inbox = async (scope: TestScope) =>
    (await scope.deps.journal.readInbox(request.session)).map(({ item }) => item);

  test("is sent once, with any number of hosts of its parent", async () => {
    const scope = await createScope({ agents });
    let announced = 0;
    await scope.deps.bus.subscribe(scope.deps.subjects.all.control, () => {
      announced += 1;
    });
    expect(await cancelChild(effect, scope)).toBeNull();
    await cancelChild(effect, scope);
    await settle();
    expect(await inbox(scope)).toEqual([
      {
        v: 1,
        kind: "run.cancelled",
        at: scope.clock.now(),
        session: request.session,
        run: child,
        reason: "no longer needed",
      },
    ]);
    expect(announced).toBe(1);
  });

  test("is sent as soon as the journal can be written again", async () => {
    const scope = await createScope({ agents });
    const { journal } = scope.deps;
    let full = true;
    scope.deps.journal = {
      ...journal,
      appendInbox: (item) => (full ? Promise.reject(new Error("ENOSPC")) : journal.appendInbox(item)),
    };
    const told = cancelChild(effect, scope);
    await settle();
    full = false;
    scope.clock.advance(1_000);
    await told;
    expect(await inbox(scope)).toHaveLength(1);
  });

  test("is not sent once its parent no longer waits", async () => {
    const scope = await createScope({ agents });
    scope.deps.journal = { ...scope.deps.journal, appendInbox: () => Promise.reject(new Error("ENOSPC")) };
    const told = cancelChild(effect, scope);
    await settle();
    scope.stop();
    expect(await told).toBeNull();
  });
});

test("for children that only wait, one read of the positions serves all", async () => {
  const scope = await createScope({ agents });
  const { deps, clock } = scope;
  const reads: string[] = [];
  const { lastOf, openRuns } = deps.journal;
  deps.journal.lastOf = (...of) => {
    reads.push("last");
    return lastOf(...of);
  };
  deps.journal.openRuns = (...of) => {
    reads.push("open");
    return openRuns(...of);
  };
  Object.assign(deps, createRunDeps(deps));
  for (let item = 0; item < 3; item += 1) {
    const one = { ...request, run: `${child.slice(0, -1)}${item}` };
    void runChild({ ...running(), item, request: one }, scope);
    await claimRun(deps, one, () => deps.agentSource.load(null));
    if (item === 2) await writeEntries(deps, one, [{ kind: "timer.fired", timer: "x" }]);
  }
  await settle();
  clock.advance(5_000);
  await settle();
  // One of them has more entries than its opening. It is read once.
  expect(reads).toEqual(["open", "last"]);
  clock.advance(5_000);
  await settle();
  expect(reads).toEqual(["open", "last", "open"]);
  scope.stop();
});

test("a child whose files have no live host is ended by its parent, after a while", async () => {
  const at = { workspace: { id: "w1", path: "/nowhere", place: "box" } };
  const living = [{ place: "box", alive: true, draining: false } as HostView];
  const scope = await createScope({ agents });
  const serving = async () => living;
  scope.deps.hosts = { list: () => living, serving, served: () => new Map(), onChange: () => () => {} };
  scope.deps.leaseMs = 8_000;
  scope.deps.delegation = { noHost: "fail", workspaceLostMs: 20_000 };
  const outcome = runChild(running(at), scope);
  await settle();
  await claimRun(scope.deps, { ...request, ...at }, () => scope.deps.agentSource.load(null));
  living.splice(0);
  for (let looks = 0; looks < 7; looks += 1) {
    scope.clock.advance(4_000);
    await settle();
  }
  expect(await outcome).toMatchObject({ kind: "child.settled", response: { error: { type: "workspace_lost" } } });
});
