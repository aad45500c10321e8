/**
 * A rate limit is not a failure. A model call that was lost, or whose outcome was lost, is repeated and charged.
 */
import { describe, expect, test } from "vitest";
import { aToolCall, claimed, modelFailed, reply, timerFired, toolFinished } from "../fixtures.test-helper.ts";
import { drive, openedAt } from "../machine-driver.test-helper.ts";
import { lastTurnNotice } from "./turn.ts";

const limited = (retryAfterMs: number | null = null) => modelFailed(1, { type: "rate_limit", retryAfterMs });

describe("a rate limit", () => {
  test("is waited for, then the same step is repeated", () => {
    const d = drive();
    const first = d.effect("callModel");
    d.look();
    expect(d.on(limited())).toEqual({ state: "execute.backingOff", started: ["timer/rate/1/1"], stopped: [] });
    expect(d.on(timerFired("rate/1/1"))).toEqual({ state: "execute.think", started: ["model/1"], stopped: [] });
    expect(d.effect("callModel")).toEqual({ ...first, triesBefore: 1 });
    d.feed(reply(1, "42"));
    expect(d.response()).toMatchObject({ status: "completed", metrics: { iterations: 1 } });
  });

  test("doubles the wait each time, up to a minute; a reply resets it", () => {
    const d = drive();
    const delays: number[] = [];
    const mostMs = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    for (let count = 1; count <= 8; count += 1) {
      d.feed(limited(), openedAt + count);
      const timer = d.pending().find((effect) => effect.kind === "startTimer" && effect.timer === `rate/1/${count}`);
      delays.push(timer?.kind === "startTimer" ? timer.delayMs : -1);
      d.feed(timerFired(`rate/1/${count}`), openedAt + count);
    }
    for (const [i, most] of mostMs.entries()) {
      expect(delays[i]).toBeGreaterThanOrEqual(most / 2);
      expect(delays[i]).toBeLessThanOrEqual(most);
    }
    d.feed(reply(1, "", [aToolCall("read")]), openedAt + 10);
    d.feed(toolFinished(1, 0, "x"), openedAt + 10);
    d.feed(modelFailed(2, { type: "rate_limit" }), openedAt + 10);
    const again = d.pending().at(-1);
    expect(again).toMatchObject({ timer: "rate/2/1", since: openedAt + 10 });
    expect(again?.kind === "startTimer" ? again.delayMs : null).toBeLessThanOrEqual(1_000);
  });

  test("has a random wait (jitter), the same in every replay", () => {
    const delayOf = (run: string): unknown => {
      const d = drive({}, { run });
      d.feed(limited());
      const timer = d.pending().at(-1);
      return timer?.kind === "startTimer" && timer.delayMs;
    };
    const runs = Array.from({ length: 20 }, (_, i) => `00000000-0000-7000-8000-0000000000${10 + i}`);
    expect(new Set(runs.map(delayOf)).size).toBeGreaterThan(15);
    expect(runs.map(delayOf)).toEqual(runs.map(delayOf));
  });

  test("has its reason in the timer, and may be repeated without a limit", () => {
    const d = drive();
    d.feed(limited(123_456));
    const retry = { type: "rate_limit", message: expect.any(String), tries: 1, triesMax: null };
    expect(d.pending().at(-1)).toMatchObject({ kind: "startTimer", delayMs: 123_456, retry });
  });

  test("is waited for as long as the provider asks", () => {
    const d = drive();
    d.feed(limited(123_456));
    expect(d.pending().at(-1)).toMatchObject({ timer: "rate/1/1", delayMs: 123_456 });
  });

  test("costs no tokens and no turn", () => {
    const d = drive({ budget: { tokens: 100_000 }, limits: { maxIterations: 1 } });
    d.feed(limited());
    d.feed(timerFired("rate/1/1"));
    expect(d.context()).toMatchObject({ step: 1, usage: { charged: { tokens: 0 }, lost: { tokens: 0 } } });
    expect(d.effect("callModel").messages.filter(({ text }) => text === lastTurnNotice)).toHaveLength(1);
  });

  test.each([
    ["another wait", timerFired("rate/1/2")],
    ["another step's", timerFired("rate/2/1")],
    ["a reply of the refused call", reply(1, "late")],
    ["a second failure of the same call", limited()],
  ])("%s does not end the wait", (_, fact) => {
    const d = drive();
    d.feed(limited());
    expect(d.on(fact)).toEqual({ state: "execute.backingOff", started: [], stopped: [] });
  });

  test("does not extend the deadline", () => {
    const d = drive();
    d.feed(limited());
    expect(d.on(timerFired("deadline"))).toMatchObject({ state: "respond.settling", stopped: ["timer/rate/1/1"] });
    expect(d.response()).toMatchObject({ status: "timeout", bailoutReason: "timeout" });
  });

  test("is waited for by the next host as well", () => {
    const d = drive();
    d.feed(limited());
    d.look();
    expect(d.on(claimed(), openedAt + 5_000)).toMatchObject({
      state: "execute.backingOff",
      started: ["timer/deadline"],
    });
    expect(d.on(timerFired("rate/1/1")).started).toEqual(["model/1"]);
  });
});

describe("a call that was lost", () => {
  const lost = (changes: Parameters<typeof modelFailed>[1] = {}) =>
    modelFailed(1, { type: "network", message: "silent", begun: true, tries: 1, ...changes });

  test("is repeated after a timer, and charged its reservation", () => {
    const d = drive({ limits: { maxOutputTokens: 100 } });
    const [first, reserve] = [d.effect("callModel"), d.context().turn?.reserve.tokens ?? 0];
    d.look();
    expect(d.on(lost())).toEqual({ state: "execute.backingOff", started: ["timer/rate/1/1"], stopped: [] });
    expect(d.context().usage.lost.tokens).toBe(reserve);
    expect(d.on(timerFired("rate/1/1"))).toEqual({ state: "execute.think", started: ["model/1"], stopped: [] });
    expect(d.effect("callModel")).toEqual({ ...first, triesBefore: 1 });
    d.feed(reply(1, "42"));
    expect(d.response().metrics).toMatchObject({
      iterations: 1,
      totalTokens: reserve + 110,
      estimated: { tokens: reserve },
      charged: { tokens: reserve + 110 },
    });
    expect(d.response().warnings).toEqual([expect.stringContaining("estimates (≈)")]);
  });

  test.each([
    ["network", { type: "network" as const }],
    ["timeout", { type: "timeout" as const }],
    ["a limit reported in the middle of an answer", { type: "rate_limit" as const }],
  ])("is made at most five times, and then fails with a message: %s", (_, changes) => {
    const d = drive({ limits: { maxOutputTokens: 100 } });
    const reserve = d.context().turn?.reserve.tokens ?? 0;
    for (let count = 1; count < 5; count += 1) {
      d.feed(lost(changes));
      d.feed(timerFired(`rate/1/${count}`));
      expect(d.effect("callModel").triesBefore).toBe(count);
    }
    d.feed(lost(changes));
    expect(d.response()).toMatchObject({
      status: "failed",
      error: { ...changes, message: "silent (asked 5 times)", tries: 5 },
      metrics: { charged: { tokens: 5 * reserve } },
    });
  });

  test("counts with the earlier requests of its provider", () => {
    const d = drive();
    d.feed(lost({ begun: false, tries: 3 }));
    d.feed(timerFired("rate/1/1"));
    expect(d.effect("callModel").triesBefore).toBe(3);
    d.feed(lost({ tries: 2 }));
    expect(d.response()).toMatchObject({ error: { tries: 5 } });
  });

  test("is not counted if it was refused before a request", () => {
    const d = drive();
    d.feed(limited());
    d.feed(timerFired("rate/1/1"));
    d.feed(modelFailed(1, { type: "rate_limit", begun: false, tries: 0 }));
    d.feed(timerFired("rate/1/2"));
    expect(d.effect("callModel").triesBefore).toBe(1);
  });

  test("is counted per turn", () => {
    const d = drive();
    d.feed(lost({ tries: 4 }));
    d.feed(timerFired("rate/1/1"));
    d.feed(reply(1, "", [aToolCall("read")]));
    d.feed(toolFinished(1, 0, "x"));
    expect(d.effect("callModel").triesBefore).toBe(0);
    d.feed(modelFailed(2, { type: "network", tries: 4 }));
    expect(d.state()).toBe("execute.backingOff");
  });

  test("is charged nothing if the provider refused it before any work", () => {
    const d = drive();
    d.feed(lost({ begun: false }));
    expect(d.state()).toBe("execute.backingOff");
    expect(d.context().usage.lost.tokens).toBe(0);
  });

  test("is not repeated without budget: the run ends with its partial result", () => {
    const d = drive({ budget: { tokens: 1_500 }, limits: { maxOutputTokens: 2_000 } });
    d.feed(lost());
    d.feed(timerFired("rate/1/1"));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_tokens" });
    expect(d.response().metrics.charged.tokens).toBeLessThanOrEqual(1_500);
  });

  test("is repeated by the next host as well, and still counts", () => {
    const d = drive();
    d.feed(lost());
    d.feed(claimed());
    d.feed(timerFired("rate/1/1"));
    expect(d.effect("callModel").triesBefore).toBe(1);
  });
});

describe("a failed call", () => {
  test.each([
    ["network", true],
    ["model", true],
    ["crashed", true],
    ["auth", false],
    ["params", false],
    ["permission", false],
    ["budget", false],
  ] as const)("of type %s is charged its reservation: %j", (type, isCharged) => {
    const d = drive({ limits: { maxOutputTokens: 100 } });
    const reserve = d.context().turn?.reserve.tokens ?? 0;
    d.feed(modelFailed(1, { type, recoverable: false }));
    expect(d.response().metrics.charged.tokens).toBe(isCharged ? reserve : 0);
    expect(d.response().metrics.totalTokens).toBe(isCharged ? reserve : 0);
  });

  test("of a run that an earlier version opened counts nothing as used", () => {
    const d = drive({ limits: { maxOutputTokens: 100 }, booksLostCalls: false });
    const reserve = d.context().turn?.reserve.tokens ?? 0;
    d.feed(modelFailed(1, { type: "network", recoverable: false }));
    expect(d.response().metrics).toMatchObject({ totalTokens: 0, charged: { tokens: reserve } });
    expect(d.response().warnings).toEqual([expect.stringContaining("it may have been paid for")]);
  });
});

describe("a model call that was running when its host died", () => {
  test("is repeated by the next host, and charged twice", () => {
    const d = drive({ limits: { maxOutputTokens: 100 } });
    const [first, reserve] = [d.effect("callModel"), d.context().turn?.reserve.tokens ?? 0];
    d.look();
    expect(d.on(claimed())).toMatchObject({ state: "execute.think", started: ["timer/deadline", "model/1"] });
    expect(d.effect("callModel")).toEqual(first);
    d.feed(reply(1, "42"));
    expect(d.response().metrics).toMatchObject({
      iterations: 1,
      totalTokens: reserve + 110,
      charged: { tokens: reserve + 110 },
    });
  });

  test("is repeated until no budget is left: then the run ends with a message", () => {
    const d = drive({ budget: { tokens: 8_000 }, limits: { maxOutputTokens: 2_000 } });
    let claims = 0;
    for (; claims < 20 && d.state() === "execute.think"; claims += 1) d.feed(claimed());
    expect(claims).toBeLessThan(20);
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_tokens" });
    expect(d.response().metrics.charged.tokens).toBeLessThanOrEqual(8_000);
  });

  test("announces the last turn once, in any number of repetitions", () => {
    const d = drive({ limits: { maxIterations: 1 } });
    d.feed(claimed());
    d.feed(claimed());
    expect(d.effect("callModel").messages.filter(({ text }) => text === lastTurnNotice)).toHaveLength(1);
    expect(d.effect("callModel").lastTurn).toBe(true);
  });
});
