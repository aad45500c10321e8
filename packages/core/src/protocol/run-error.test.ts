import { expect, test } from "vitest";
import { RunFailure, toRunError } from "./run-error.ts";

const failure = new RunFailure({ type: "rate_limit", message: "slow down", recoverable: true, retryAfterMs: 9 });

test.each([
  ["a failure keeps its fields", failure, { type: "rate_limit", recoverable: true, retryAfterMs: 9, tool: "read" }],
  ["an error becomes its message", new Error("broke"), { type: "tool_error", message: "broke", recoverable: false }],
  ["a text becomes the message", "broke", { type: "tool_error", message: "broke" }],
  ["undefined becomes an error", undefined, { type: "tool_error", message: "undefined" }],
  [
    "an incomplete failure becomes a plain error",
    { runError: { type: "no" } },
    { type: "tool_error", recoverable: false },
  ],
])("%s", (_, thrown, error) => {
  expect(toRunError(thrown, "tool_error", "read")).toMatchObject(error);
});

test("a failure of another copy of this package is recognised by its shape", () => {
  const foreign = { runError: { type: "auth", message: "no key", recoverable: false } };
  expect(toRunError(foreign, "model")).toEqual({
    type: "auth",
    message: "no key",
    tool: null,
    recoverable: false,
    retryAfterMs: null,
  });
});
