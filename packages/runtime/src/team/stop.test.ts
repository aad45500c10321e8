/** A task is stopped from wherever somebody may want it, and nothing outlives a team that is closed. */
import { getEventListeners } from "node:events";
import { createSimulatedClock, type SimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TestDeps } from "../host/host-deps.test-helper.ts";
import { createGate, done, startTeam, stopTeams } from "./team.test-helper.ts";
import { createTeam } from "./team.ts";

afterEach(stopTeams);

describe("a task is stopped", () => {
  it.each<[string, (by: { cancel(): void; abort(): void; all(): void }) => void, string]>([
    ["by whoever spawned it", ({ cancel }) => cancel(), "cancelled by the program"],
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

  it("before it was asked, where its signal had aborted before", async () => {
    const { team, deps } = await startTeam(done);
    const load = vi.spyOn(deps.agentSource, "load");
    const { session, response } = team.spawn("a", "x", { signal: AbortSignal.abort("too late") });
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "too late" } });
    expect(load).not.toHaveBeenCalled();
    expect(await deps.journal.readInbox(session)).toEqual([]);
  });

  it("before it was asked, where that was still being made ready", async () => {
    const { team, deps } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    cancel("never mind");
    expect(await response).toMatchObject({ status: "cancelled", error: { message: "never mind" } });
    expect(await deps.journal.readInbox(session)).toEqual([]);
  });

  it("though its signal aborted while it was being handed over", async () => {
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

  it("though the journal refuses the wish at first", async () => {
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

  it("with all others, and what comes after them is not", async () => {
    const { team } = await startTeam(done);
    const before = team.spawn("a", "before");
    team.cancelAll();
    const responses = await Promise.all([before.response, team.spawn("a", "after").response]);
    expect(responses.map(({ status }) => status)).toEqual(["cancelled", "completed"]);
  });

  it("until it has ended: then the wish is let go", async () => {
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

  it("and its signal is left alone once it has ended", async () => {
    const { team } = await startTeam(done);
    const { signal } = new AbortController();
    const { response } = team.spawn("a", "x", { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await response;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("and after its end nothing is said of it any more", async () => {
    const { team, deps } = await startTeam(done);
    const { session, response, cancel } = team.spawn("a", "x");
    await response;
    cancel();
    team.cancelAll();
    expect((await deps.journal.readInbox(session)).map(({ item }) => item.kind)).toEqual(["session.requested"]);
  });
});

/** Moves time on by seconds until something has come. */
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
  it("leaves nothing running, and nothing that listens or waits", async () => {
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

  it("takes nothing new", async () => {
    const { team } = await startTeam(done);
    await team.close();
    expect(() => team.spawn("a", "x")).toThrow(expect.objectContaining({ code: "CLOSED" }));
    await expect(team.fanOut([])).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("is closed once, whoever asks how often", async () => {
    const { team } = await startTeam(done);
    expect(team.close()).toBe(team.close());
    await team.close();
  });

  it("does not wait for ever where nobody is there to run anything", async () => {
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
    // Whoever takes it up one day finds that it is to stop.
    const items = await deps.journal.readInbox(session);
    expect(items.map(({ item }) => item.kind)).toEqual(["session.requested", "session.cancelled"]);
  });
});

/** Counts what is taken of a world and not given back. */
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
