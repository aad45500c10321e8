/** A task can be stopped in several ways, and nothing outlives a closed team. */
import { getEventListeners } from "node:events";
import { createSimulatedClock, type SimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TestDeps } from "../host/host-deps.test-helper.ts";
import { createGate, done, startTeam, stopTeams } from "./team.test-helper.ts";
import { createTeam } from "./team.ts";

afterEach(stopTeams);

describe("a task is stopped", () => {
  it.each<[string, (by: { cancel(): void; abort(): void; all(): void }) => void, string]>([
    ["by its cancel function", ({ cancel }) => cancel(), "cancelled by the program"],
    ["by its signal", ({ abort }) => abort(), "out of patience"],
    ["with all others", ({ all }) => all(), "that is all"],
  ])("%s", async (_, stop, reason) => {
    const gate = createGate();
    const { team, host } = await startTeam(gate.script);
    const patience = new AbortController();
    const { response, cancel } = team.spawn("a", "x", { signal: patience.signal });
    await gate.reached(1);
    stop({
      cancel,
      abort: () => patience.abort(new Error("out of patience")),
      all: () => team.cancelAll("that is all"),
    });
    expect(await response).toMatchObject({ status: "cancelled", error: { type: "cancelled", message: reason } });
    expect(host.activeRuns()).toBe(0);
  });

  it("before it starts, if its signal had aborted before", async () => {
    const { team, deps } = await startTeam(done);
    const load = vi.spyOn(deps.agentSource, "load");
    const { session, response } = team.spawn("a", "x", { signal: AbortSignal.abort("too late") });
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "too late" } });
    expect(load).not.toHaveBeenCalled();
    expect(await deps.journal.readInbox(session)).toEqual([]);
  });

  it("before it starts, while its request is being planned", async () => {
    const { team, deps } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    cancel("never mind");
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "never mind" } });
    expect(await deps.journal.readInbox(session)).toEqual([]);
  });

  it("even if its signal aborted while it was being offered", async () => {
    const gate = createGate();
    const stop = new AbortController();
    const { team } = await startTeam(gate.script, {}, (deps) => {
      const { offer } = deps.queue;
      deps.queue.offer = async (task) => {
        const offered = await offer(task);
        stop.abort("just now");
        return offered;
      };
    });
    const { response } = team.spawn("a", "x", { signal: stop.signal });
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "just now" } });
  });

  it("even if the journal refuses the command at first", async () => {
    const gate = createGate();
    const clock = createSimulatedClock(1_000);
    const { team, deps } = await startTeam(gate.script, {}, (made) => Object.assign(made, { clock }));
    const { response, cancel } = team.spawn("a", "x");
    await gate.reached(1);
    const append = vi.spyOn(deps.journal, "appendInbox").mockRejectedValueOnce(new Error("disk full"));
    cancel();
    await vi.waitUntil(() => append.mock.calls.length === 1);
    expect(await advanceUntil(clock, response)).toMatchObject({ status: "cancelled" });
  });

  it("by cancelAll, which does not stop later tasks", async () => {
    const { team } = await startTeam(done);
    const before = team.spawn("a", "before");
    team.cancelAll();
    const responses = await Promise.all([before.response, team.spawn("a", "after").response]);
    expect(responses.map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  });

  it("until it has ended; then the command is no longer retried", async () => {
    const gate = createGate();
    const clock = createSimulatedClock(1_000);
    const { team, deps } = await startTeam(gate.script, {}, (made) => Object.assign(made, { clock }));
    const { response, cancel } = team.spawn("a", "x");
    await gate.reached(1);
    const refused = Promise.withResolvers<void>();
    const append = vi.spyOn(deps.journal, "appendInbox").mockImplementation(async () => {
      refused.resolve();
      throw new Error("disk full");
    });
    cancel();
    await refused.promise;
    gate.open();
    expect(await response).toMatchObject({ status: "completed" });
    clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(append).toHaveBeenCalledTimes(1);
  });

  it("and its signal has no listener after its end", async () => {
    const { team } = await startTeam(done);
    const { signal } = new AbortController();
    const { response } = team.spawn("a", "x", { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await response;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("and after its end no command is sent about it", async () => {
    const { team, deps } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    await response;
    cancel();
    team.cancelAll();
    expect((await deps.journal.readInbox(session)).map(({ item }) => item.kind)).toEqual(["session.requested"]);
  });
});

/** Advances time by seconds until a condition is met. */
async function advanceUntil<T>(clock: SimulatedClock, awaited: Promise<T>): Promise<T> {
  let come = false;
  void awaited.then(() => {
    come = true;
  });
  while (!come) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await awaited;
}

describe("a closed team", () => {
  it("leaves no run, listener or timer behind", async () => {
    const gate = createGate();
    const left = { subscriptions: 0, timers: 0 };
    const { team, host, deps } = await startTeam(gate.script);
    const counted = createTeam({ deps: counting(deps, left), model: "test/model", workspace: import.meta.dirname });
    const single = counted.spawn("a", "single");
    const fanOut = counted.fanOut(["0", "1", "2", "3", "4"].map((task) => ({ agent: "a", task })));
    await gate.reached(4);
    expect(left.subscriptions).toBe(4);
    let fanned = false;
    void fanOut.then(() => {
      fanned = true;
    });
    await counted.close();
    expect(fanned).toBe(true);
    expect([host.activeRuns(), counted.active.size, left]).toEqual([0, 0, { subscriptions: 0, timers: 0 }]);
    const responses = [await single.response, ...(await fanOut)];
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => "cancelled"));
    expect(gate.asked).toHaveLength(4);
    expect(await deps.journal.openRuns()).toEqual([]);
    expect(team.active.size).toBe(0);
  });

  it("takes no new task", async () => {
    const { team } = await startTeam(done);
    await team.close();
    expect(() => team.spawn("a", "x")).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await expect(team.fanOut([])).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("is closed once, even if close is called several times", async () => {
    const { team } = await startTeam(done);
    expect(team.close()).toBe(team.close());
    await team.close();
  });

  it("does not wait forever if no host runs", async () => {
    const clock = createSimulatedClock(1_000);
    const offered = Promise.withResolvers<void>();
    const { team, host, deps } = await startTeam(done, {}, (made) => Object.assign(made, { clock }));
    await host.stop({ graceMs: 0 });
    const { offer } = deps.queue;
    deps.queue.offer = (task) => offer(task).finally(offered.resolve);
    const { session, response } = team.spawn("a", "x");
    await offered.promise;
    const closed = team.close({ graceMs: 30_000 });
    clock.advance(29_999);
    expect(team.active.size).toBe(1);
    clock.advance(1);
    await closed;
    expect(await response).toMatchObject({
      status: "cancelled",
      error: {
        message: `the team was closed; the team did not wait for the end, which session ${session} will show`,
      },
    });
    // A host that takes the run later finds the cancel command.
    const items = await deps.journal.readInbox(session);
    expect(items.map(({ item }) => item.kind)).toEqual(["session.requested", "session.cancelled"]);
  });
});

/** Counts subscriptions and timers that were not released. */
function counting(deps: TestDeps, left: { subscriptions: number; timers: number }): TestDeps {
  return {
    ...deps,
    bus: {
      ...deps.bus,
      async subscribe(pattern, listener) {
        left.subscriptions += 1;
        const { unsubscribe } = await deps.bus.subscribe(pattern, listener);
        return {
          unsubscribe() {
            left.subscriptions -= 1;
            unsubscribe();
          },
        };
      },
    },
    clock: {
      ...deps.clock,
      after(delayMs, callback) {
        left.timers += 1;
        const giveBack = once(() => {
          left.timers -= 1;
        });
        const cancel = deps.clock.after(delayMs, () => {
          giveBack();
          callback();
        });
        return () => {
          giveBack();
          cancel();
        };
      },
    },
  };
}

function once(act: () => void): () => void {
  let acted = false;
  return () => {
    if (!acted) act();
    acted = true;
  };
}
