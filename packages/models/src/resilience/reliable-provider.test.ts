/** Which requests are repeated, when and how often, and which failures are thrown instead. */
import { describe, expect, test } from "vitest";
import { after, failing, failure, limited, reliable, replyOf, request } from "./resilience.test-helper.ts";

const origin = request.origin;

describe("a refused request", () => {
  test("is repeated with growing delays, and its reply lists the retries", async () => {
    const { call, askedAtMs, pass } = reliable(failing(limited(), limited(), limited(), limited()));
    const { reply } = call();
    await pass(41_000);
    await expect(reply).resolves.toMatchObject({
      text: "ok",
      retries: [500, 2_000, 8_000, 30_000].map((waitedMs) => ({ error: { type: "rate_limit" }, waitedMs })),
    });
    expect(askedAtMs()).toEqual([0, 500, 2_500, 10_500, 40_500]);
  });

  test("returns at a random time within the wait (jitter)", async () => {
    const { call, askedAtMs, pass } = reliable(failing(limited(), limited()), {}, () => 0.5);
    call();
    await pass(2_000);
    expect(askedAtMs()).toEqual([0, 250, 1_250]);
  });

  test("returns no earlier than the provider asks", async () => {
    const { call, askedAtMs, pass } = reliable(failing(limited(7_000)), {}, () => 0);
    call();
    await pass(8_000);
    expect(askedAtMs()).toEqual([0, 7_000]);
  });

  test.for([
    { what: "no connection, or an error status", error: { type: "network" as const, begun: false } },
    { what: "a timeout on the provider's side", error: { type: "timeout" as const, begun: false } },
    { what: "a rate limit that does not say whether work had begun", error: { type: "rate_limit" as const } },
  ])("is one for $what", async ({ error }) => {
    const { call, asked, pass } = reliable(failing(failure(error)));
    const { reply } = call();
    await pass(1_000);
    await expect(reply).resolves.toMatchObject({ text: "ok" });
    expect(asked).toHaveLength(2);
  });

  test("reports each retry with its error, wait and number of tries", async () => {
    const { call, pass } = reliable(failing(limited(8_000)));
    const retries: unknown[] = [];
    call({}, { onRetry: (retry) => retries.push(retry) });
    await pass(100);
    expect(retries).toEqual([
      { error: expect.objectContaining({ type: "rate_limit" }), waitMs: 8_000, tries: 1, triesMax: 5 },
    ]);
  });

  test("carries the number of earlier tries", async () => {
    const { call, asked, pass } = reliable(failing(limited(), limited()));
    call({ origin: { ...origin, triesBefore: 1 } });
    await pass(20_000);
    expect(asked.map(({ request: { origin } }) => origin.triesBefore)).toEqual([1, 2, 3]);
  });
});

describe("a failure is thrown", () => {
  const always = (error: Parameters<typeof failure>[0]) => reliable(() => Promise.reject(failure(error)));

  test("at the fifth", async () => {
    const { call, asked, pass } = always({ type: "network" });
    const { reply } = call();
    await pass(60_000);
    await expect(reply).rejects.toMatchObject({ runError: { type: "network", tries: 5, begun: false } });
    expect(asked).toHaveLength(5);
  });

  test.for([
    { triesBefore: 2, tries: 3 },
    { triesBefore: 4, tries: 1 },
    { triesBefore: 9, tries: 1 },
  ])("earlier, where $triesBefore requests were made before: after $tries", async ({ triesBefore, tries }) => {
    const { call, asked, pass } = always({ type: "rate_limit" });
    const { reply } = call({ origin: { ...origin, triesBefore } });
    await pass(60_000);
    await expect(reply).rejects.toMatchObject({ runError: { type: "rate_limit", tries } });
    expect(asked).toHaveLength(tries);
  });

  test("at once, where it would have to wait for longer than half a minute", async () => {
    const { call, asked, clock } = always({ type: "rate_limit", retryAfterMs: 30_001 });
    await expect(call().reply).rejects.toMatchObject({ runError: { tries: 1, retryAfterMs: 30_001 } });
    expect(asked).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  test.for([
    { what: "a spent budget", error: { type: "budget" as const, recoverable: false } },
    { what: "a request that does not fit", error: { type: "params" as const, recoverable: false } },
    { what: "a wrong key", error: { type: "auth" as const, recoverable: false } },
    { what: "no permission", error: { type: "permission" as const, recoverable: false } },
    { what: "a limit that will not pass", error: { type: "rate_limit" as const, recoverable: false } },
    { what: "a call that had begun and was lost", error: { type: "network" as const, begun: true } },
  ])("at once, and nothing asked again: $what", async ({ error }) => {
    const { call, asked, pass, clock } = always({ retryAfterMs: 10, ...error });
    const { reply } = call();
    await pass(60_000);
    await expect(reply).rejects.toMatchObject({ runError: { ...error, tries: 1 } });
    expect(asked).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  test("of an adapter's own error: with its message, and without a retry", async () => {
    const { call, asked } = reliable(() => Promise.reject(new TypeError("x is undefined")));
    await expect(call().reply).rejects.toMatchObject({ runError: { type: "model", message: "x is undefined" } });
    expect(asked).toHaveLength(1);
  });
});

describe("once a model has asked to wait", () => {
  test("no other call asks it until the time is over, and then not all at once", async () => {
    const { call, askedAtMs, pass } = reliable(failing(limited(10_000)), {}, () => 0.5);
    call();
    await pass(4_000);
    const others = [call(), call()];
    await pass(5_950);
    expect(askedAtMs()).toEqual([0]);
    await pass(1_000);
    await Promise.all(others.map(({ reply }) => reply));
    expect(askedAtMs()).toEqual([0, 10_000, 10_250, 10_250]);
  });

  test("a call that would wait longer than half a minute fails without a request", async () => {
    const { call, asked } = reliable(failing(limited(60_000)));
    await expect(call().reply).rejects.toThrow("slow down");
    await expect(call().reply).rejects.toMatchObject({
      runError: {
        type: "rate_limit",
        message: "the provider of busy/m asked to wait for another 60 s",
        recoverable: true,
        retryAfterMs: 60_000,
        begun: false,
        tries: 0,
      },
    });
    expect(asked).toHaveLength(1);
  });

  test("a shorter wait does not shorten a longer one", async () => {
    const { call, pass } = reliable(failing(limited(60_000), limited(40_000)));
    await Promise.allSettled([call().reply, call().reply]);
    await pass(10_000);
    await expect(call().reply).rejects.toMatchObject({ runError: { retryAfterMs: 50_000 } });
  });

  test("its provider's other models are asked as before", async () => {
    const { call } = reliable(failing(limited(60_000)));
    await expect(call().reply).rejects.toThrow("slow down");
    await expect(call({ model: "busy/other" }).reply).resolves.toMatchObject({ text: "ok" });
  });

  test.for([
    { what: "without a time", error: limited() },
    { what: "with another failure", error: failure({ type: "network", retryAfterMs: 5_000, begun: true }) },
  ])("it applies only then, not $what", async ({ error }) => {
    const { call, asked } = reliable(failing(error));
    call();
    await expect(call().reply).resolves.toMatchObject({ text: "ok" });
    expect(asked).toHaveLength(2);
  });
});

describe("a model that is down", () => {
  /** Ten failures in a row: two calls with five requests each. */
  async function brokenDown(random = () => 0) {
    let isDown = true;
    let isSlow = false;
    const model = reliable(
      async () => {
        if (isDown) throw failure({ type: "network" });
        if (isSlow) await new Promise(() => {});
      },
      {},
      random,
    );
    const calls = [model.call(), model.call()];
    await model.pass(100);
    await Promise.allSettled(calls.map(({ reply }) => reply));
    expect(model.asked).toHaveLength(10);
    const recover = ({ slowly = false } = {}): void => {
      isDown = false;
      isSlow = slowly;
    };
    return { ...model, recover };
  }

  test("is not asked for a while: the refusal says for how long, and costs nothing", async () => {
    const { call, asked } = await brokenDown();
    await expect(call().reply).rejects.toMatchObject({
      runError: {
        type: "rate_limit",
        message: expect.stringMatching(/^busy\/m keeps failing: no request is sent to it for another \d+ s$/),
        recoverable: true,
        begun: false,
        retryAfterMs: expect.any(Number),
        tries: 0,
      },
    });
    expect(asked).toHaveLength(10);
  });

  test("is then probed by a single call, and open to all once that call is answered", async () => {
    const { call, asked, pass, recover } = await brokenDown();
    await pass(10_000);
    recover();
    const [probe, other] = [call(), call()];
    await expect(probe.reply).resolves.toMatchObject({ text: "ok" });
    await expect(other.reply).rejects.toMatchObject({ runError: { type: "rate_limit", tries: 0 } });
    await expect(call().reply).resolves.toMatchObject({ text: "ok" });
    expect(asked).toHaveLength(12);
  });

  test("and fails its probe is not asked for twice as long", async () => {
    const { call, asked, pass } = await brokenDown();
    await pass(10_000);
    await expect(call().reply).rejects.toMatchObject({ runError: { tries: 1, retryAfterMs: 20_000 } });
    await pass(19_900);
    await expect(call().reply).rejects.toMatchObject({ runError: { tries: 0 } });
    expect(asked).toHaveLength(11);
  });

  test("does not affect its provider's other models", async () => {
    const { call, recover } = await brokenDown();
    recover();
    await expect(call({ model: "busy/other" }).reply).resolves.toMatchObject({ text: "ok" });
  });

  test("is probed by another call when the probe was cancelled", async () => {
    const { call, asked, pass, recover, clock } = await brokenDown();
    await pass(10_000);
    recover({ slowly: true });
    const probe = call();
    await pass(1_000);
    expect(asked).toHaveLength(11);
    probe.abort.abort();
    await expect(probe.reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
    const next = call();
    await pass(1_000);
    expect(asked).toHaveLength(12);
    // The cancelled probe has no outcome: still only one call at a time may probe.
    await expect(call().reply).rejects.toMatchObject({ runError: { type: "rate_limit", tries: 0 } });
    next.abort.abort();
    await next.reply.catch(() => {});
    recover();
    await expect(call().reply).resolves.toMatchObject({ text: "ok" });
    expect(clock.timers).toBe(0);
  });
});

describe("retries", () => {
  test("are at most half as many as calls, once there are more than a few", async () => {
    const { call, asked, pass } = reliable(
      async (_, __, count) => {
        // Every third request is answered, so that the breaker stays closed.
        if (count % 3 !== 0) throw limited();
      },
      {},
      () => 0,
    );
    const calls = Array.from({ length: 60 }, () => call());
    await pass(1_000);
    await Promise.allSettled(calls.map(({ reply }) => reply));
    expect(asked.length).toBeLessThanOrEqual(90);
    expect(asked.length).toBeGreaterThan(80);
  });
});

describe("a cancelled call ends at once, and leaves no timer behind:", () => {
  const phases = {
    "while it waits for its retry": async () => {
      const model = reliable(failing(limited(20_000)));
      return { model, cancelled: model.call() };
    },
    "while its model is paused": async () => {
      const model = reliable(failing(limited(25_000)));
      const first = model.call();
      await model.pass(100);
      const cancelled = model.call();
      await model.pass(100);
      first.abort.abort();
      await first.reply.catch(() => {});
      return { model, cancelled };
    },
    "while it queues": async () => {
      const model = reliable(() => new Promise(() => {}), { concurrency: 1 });
      const first = model.call();
      const cancelled = model.call();
      await model.pass(100);
      cancelled.abort.abort();
      await expect(cancelled.reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
      first.abort.abort();
      await first.reply.catch(() => {});
      return { model, cancelled };
    },
    "while it queues for its share of a minute": async () => {
      const model = reliable(async () => {}, { requestsPerMinute: 1 });
      await model.call().reply;
      return { model, cancelled: model.call() };
    },
    "while its request runs, though the adapter ignores the abort": async () => {
      const model = reliable(() => new Promise(() => {}));
      return { model, cancelled: model.call() };
    },
  };

  test.for(Object.entries(phases))("%s", async ([, begin]) => {
    const { model, cancelled } = await begin();
    await model.pass(100);
    cancelled.abort.abort();
    await expect(cancelled.reply).rejects.toMatchObject({ runError: { type: "cancelled", recoverable: false } });
    expect(model.clock.timers).toBe(0);
  });

  test("in the moment before its request", async () => {
    const { call, asked, clock } = reliable(async () => {});
    const { abort, reply } = call();
    abort.abort();
    await expect(reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect(asked).toHaveLength(0);
    expect(clock.timers).toBe(0);
  });

  test("before it begins", async () => {
    const { layer, asked } = reliable(async () => {});
    const call = layer.call(request, { signal: AbortSignal.abort(), onDelta: () => {} });
    await expect(call).rejects.toMatchObject({ runError: { type: "cancelled" } });
    expect(asked).toHaveLength(0);
  });
});

describe("limits that all share", () => {
  test("so many calls at a time, first come, first served", async () => {
    const order: string[] = [];
    const model = reliable(
      async ({ origin: { task } }, { signal }) => {
        order.push(task);
        await after(model.clock, 1_000, signal);
      },
      { concurrency: 2 },
    );
    const calls = ["a", "b", "c", "d", "e"].map((task) => model.call({ origin: { ...origin, task } }));
    await model.pass(500);
    expect(order).toEqual(["a", "b"]);
    await model.pass(1_000);
    expect(order).toEqual(["a", "b", "c", "d"]);
    await model.pass(3_000);
    await Promise.all(calls.map(({ reply }) => reply));
    expect(order).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a call that waits for its retry does not block others", async () => {
    const model = reliable(failing(failure({ type: "network" })), { concurrency: 1 });
    const first = model.call();
    await model.pass(50);
    await expect(model.call({ model: "busy/other" }).reply).resolves.toMatchObject({ text: "ok" });
    await model.pass(1_000);
    await expect(first.reply).resolves.toMatchObject({ text: "ok" });
  });

  test("so many requests a minute, retries among them", async () => {
    const model = reliable(failing(limited()), { requestsPerMinute: 60 }, () => 0);
    const calls = Array.from({ length: 10 }, () => model.call());
    await model.pass(6_000);
    await Promise.all(calls.map(({ reply }) => reply));
    expect(model.askedAtMs().filter((ms) => ms === 0)).toHaveLength(6);
    expect(model.askedAtMs().filter((ms) => ms > 0)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
  });

  test("so many tokens a minute: estimated before, corrected by the real usage", async () => {
    const used = reliable(async ({ model }) => replyOf(model, 1_000), { tokensPerMinute: 6_000 });
    const first = used.call();
    await first.reply;
    const second = used.call();
    // The bucket holds 600 and 1,000 were used: the debt of 400 and the second call's tokens refill at 100 a second.
    await used.pass(3_900);
    expect(used.asked).toHaveLength(1);
    await used.pass(600);
    await expect(second.reply).resolves.toMatchObject({ text: "ok" });
  });

  test("a refused request uses no tokens", async () => {
    const words = "x".repeat(1_500);
    const model = reliable(failing(failure({ type: "network" })), { tokensPerMinute: 6_000 }, () => 0);
    const { reply } = model.call({ system: words });
    await model.pass(50);
    await expect(reply).resolves.toMatchObject({ text: "ok" });
  });
});
