/** A silent call is given up, even if its adapter does not stop. */
import { describe, expect, test } from "vitest";
import { after, reliable, replyOf } from "./resilience.test-helper.ts";

const silence = {
  type: "network",
  recoverable: true,
  begun: true,
  tries: 1,
  message: expect.stringContaining("sent nothing for 75 s"),
};

test.for([
  { what: "that never sends anything", speaksForMs: 0 },
  { what: "that stops in the middle of a reply", speaksForMs: 10_000 },
])("a call $what is given up within 90 s, and not asked again", async ({ speaksForMs }) => {
  const deltas: string[] = [];
  const model = reliable(async (_, { signal, onDelta }) => {
    for (let ms = 0; ms < speaksForMs; ms += 1_000) {
      await after(model.clock, 1_000, signal);
      onDelta("word ");
    }
    await new Promise(() => {});
  });
  const { reply } = model.call({}, { onDelta: (text) => deltas.push(text) });
  await model.pass(speaksForMs + 74_900);
  await expect(Promise.race([reply, "still waiting"])).resolves.toBe("still waiting");
  await model.pass(200);
  await expect(reply).rejects.toMatchObject({ runError: silence });
  expect(model.clock.now()).toBeLessThanOrEqual(speaksForMs + 90_000);
  expect(model.asked).toHaveLength(1);
  expect(model.clock.timers).toBe(0);
});

test("a call that shows signs of life, words or not, goes on for as long as it takes", async () => {
  const model = reliable(async (_, { signal, onActivity }) => {
    for (let minute = 0; minute < 10; minute += 1) {
      await after(model.clock, 60_000, signal);
      onActivity?.();
    }
  });
  const { reply } = model.call();
  await model.pass(600_500);
  await expect(reply).resolves.toMatchObject({ text: "ok" });
  expect(model.clock.timers).toBe(0);
});

test("time in the queue does not count as silence", async () => {
  const model = reliable(async (_, { signal }) => void (await after(model.clock, 60_000, signal)), { concurrency: 1 });
  const calls = [model.call(), model.call(), model.call()];
  await model.pass(181_000);
  await expect(Promise.all(calls.map(({ reply }) => reply))).resolves.toHaveLength(3);
});

describe("an adapter is aborted", () => {
  test.for(["by the idle timeout", "by a cancellation"])("%s", async (how) => {
    let stopped = false;
    const model = reliable(async (_, { signal }) => {
      signal.addEventListener("abort", () => (stopped = true));
      await new Promise(() => {});
    });
    const { abort, reply } = model.call();
    await model.pass(100);
    if (how === "by the idle timeout") await model.pass(76_000);
    else abort.abort();
    await expect(reply).rejects.toThrow();
    expect(stopped).toBe(true);
  });

  test("and its later deltas are dropped", async () => {
    const deltas: string[] = [];
    let speak = (): void => {};
    const model = reliable(async (request, { onDelta }) => {
      await new Promise<void>((resolve) => {
        speak = () => {
          onDelta("late");
          resolve();
        };
      });
      return replyOf(request.model);
    });
    const { abort, reply } = model.call({}, { onDelta: (text) => deltas.push(text) });
    await model.pass(100);
    abort.abort();
    speak();
    await expect(reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
    await model.pass(100);
    expect(deltas).toEqual([]);
  });
});

test("the idle timeout is configurable", async () => {
  const model = reliable(() => new Promise(() => {}), { idleTimeoutMs: 2_000 });
  const { reply } = model.call();
  await model.pass(2_000);
  await expect(reply).rejects.toThrow("sent nothing for 2 s");
});
