import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { runLimited } from "./run-limited.ts";

const timeout = (): Error => Object.assign(new Error("too long"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });

/** Waits without the processor, as on a busy machine. */
const waitFor = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("an action that had no time on the processor runs again, with twice the limit", () => {
  const limits: number[] = [];
  const result = runLimited(100, (ms) => {
    waitFor(ms);
    limits.push(ms);
    if (limits.length < 3) throw timeout();
    return "done";
  });
  expect({ result, limits }).toEqual({ result: "done", limits: [100, 200, 400] });
});

test("an action that never has time on the processor fails in the end", () => {
  let tries = 0;
  const run = () =>
    runLimited(10, (ms) => {
      waitFor(ms);
      tries += 1;
      throw timeout();
    });
  expect(run).toThrow("too long");
  expect(tries).toBe(6);
});

test("an endless action is stopped", () => {
  expect(() => runLimited(100, (timeoutMs) => runInNewContext("for (;;);", {}, { timeout: timeoutMs }))).toThrow(
    "timed out",
  );
});

test("another error is thrown at once", () => {
  let tries = 0;
  const run = () =>
    runLimited(100, () => {
      tries += 1;
      throw new Error("a mistake");
    });
  expect(run).toThrow("a mistake");
  expect(tries).toBe(1);
});
