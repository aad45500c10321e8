/** A timer counts from the start time of the machine, on any host. */
import { describe, expect, test } from "vitest";
import { createScope, run, settle } from "./scope.test-helper.ts";
import { startTimer } from "./start-timer.ts";

const effect = { kind: "startTimer" as const, run, timer: "deadline" };

describe("a timer of 1000 ms", () => {
  test.for([
    { what: "counts from now", sinceMs: 0, firesAfterMs: 1_000 },
    { what: "has partly elapsed", sinceMs: -400, firesAfterMs: 600 },
    { what: "was due long ago", sinceMs: -5_000, firesAfterMs: 0 },
    {
      what: "was started by a clock ahead of this one, and does not wait longer for it",
      sinceMs: 9_000,
      firesAfterMs: 1_000,
    },
  ])("$what", async ({ sinceMs, firesAfterMs }) => {
    const scope = await createScope();
    const fired: unknown[] = [];
    void startTimer({ ...effect, delayMs: 1_000, since: scope.clock.now() + sinceMs }, scope).then((body) =>
      fired.push(body),
    );
    await settle();
    if (firesAfterMs > 0) scope.clock.advance(firesAfterMs - 1);
    await settle();
    expect(fired).toEqual([]);
    scope.clock.advance(1);
    await settle();
    expect(fired).toEqual([{ kind: "timer.fired", timer: "deadline" }]);
  });

  test("before a repeated model call is published, with the remaining time", async () => {
    const scope = await createScope();
    const retry = { type: "rate_limit" as const, message: "slow down", tries: 6, triesMax: null };
    void startTimer({ ...effect, delayMs: 1_000, since: scope.clock.now() - 400, retry }, scope);
    await settle();
    expect(scope.shown).toEqual([{ kind: "model.retrying", ...retry, waitMs: 600 }]);
    scope.stop();
  });

  test("publishes nothing when it is stopped", async () => {
    const scope = await createScope();
    const outcome = startTimer({ ...effect, delayMs: 1_000, since: scope.clock.now() }, scope);
    scope.stop();
    expect(await outcome).toBeNull();
  });
});
