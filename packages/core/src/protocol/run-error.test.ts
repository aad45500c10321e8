import { expect, test } from "vitest";
import { RunFailure, toRunError } from "./run-error.ts";

const failure = new RunFailure({ type: "rate_limit", message: "slow down", recoverable: true, retryAfterMs: 9 });

test.each([
  ["a failure keeps what it says", failure, { type: "rate_limit", recoverable: true, retryAfterMs: 9, tool: "read" }],
  ["an error gives its words", new Error("broke"), { type: "tool_error", message: "broke", recoverable: false }],
  ["a text is its words", "broke", { type: "tool_error", message: "broke" }],
  ["nothing is still an error", undefined, { type: "tool_error", message: "undefined" }],
  ["a half-made failure is a plain error", { runError: { type: "no" } }, { type: "tool_error", recoverable: false }],
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
