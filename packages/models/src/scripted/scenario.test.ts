import { expect, test } from "vitest";
import { Fault } from "./scenario.ts";

test.for([
  { delayMs: 5 },
  { status: 429, retryAfterMs: 20, code: "rate_limit_error", message: "slow down" },
  { status: 529, delayMs: 5 },
  { stall: { afterPieces: 0 } },
  { cut: { afterPieces: 2 } },
  { halfOpen: { afterPieces: 1 } },
  { streamError: { afterPieces: 1, status: 529, type: "overloaded_error", message: "too much" } },
  { notWhatItSays: "html" },
])("%j is a fault", (fault) => {
  expect(Fault.parse(fault)).toEqual(fault);
});

test("durations can have units", () => {
  expect(Fault.parse({ status: 429, delayMs: "250ms", retryAfterMs: "1m" })).toMatchObject({
    delayMs: 250,
    retryAfterMs: 60_000,
  });
});

test.for<{ fault: object; message: string }>([
  { fault: {}, message: "a fault needs delayMs or one of status, stall, cut, halfOpen, streamError, notWhatItSays" },
  { fault: { status: 429, cut: { afterPieces: 1 } }, message: "one kind of failure, not status and cut" },
  { fault: { delayMs: 1, retryAfterMs: 5 }, message: "retryAfterMs needs a status" },
  { fault: { cut: { afterPieces: 1 }, code: "a" }, message: "code needs a status" },
  { fault: { status: 200 }, message: ">=400" },
  { fault: { stall: {} }, message: "expected number" },
  { fault: { status: 429, retryAfter: 5 }, message: '"retryAfter"' },
  { fault: { notWhatItSays: "xml" }, message: "expected one of" },
])("$fault is not a fault", ({ fault, message }) => {
  expect(() => Fault.parse(fault)).toThrow(message);
});
