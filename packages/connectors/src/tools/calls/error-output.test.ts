import { RunFailure } from "@troupe/core/tool";
import { describe, expect, it } from "vitest";
import { ConnectorError } from "../../ports/connector-error.ts";
import { errorOutput, toConnectorError } from "./error-output.ts";

describe("the error of a failed call", () => {
  it.each([
    ["an error of a connector", new ConnectorError("permission", "read only"), { type: "permission" }],
    ["an exception", new TypeError("x is undefined"), { type: "tool_error", message: "x is undefined" }],
    ["a thrown text", "broken", { type: "tool_error", message: "broken" }],
    ["a failure of the host", failure("network"), { type: "network", message: "it failed" }],
    ["a failure that no connector has", failure("budget"), { type: "tool_error", message: "it failed" }],
    ["a failure with a time", failure("rate_limit", 30_000), { type: "rate_limit", retry_after: 30 }],
    ["a time below a second", failure("rate_limit", 200), { type: "rate_limit", retry_after: 1 }],
  ])("of %s is one of six types, with seconds", (_, thrown, expected) => {
    expect(errorOutput(toConnectorError(thrown)).error).toMatchObject(expected);
  });

  it("of a cancelled call stays cancelled", () => {
    const cancelled = failure("cancelled");
    expect(() => toConnectorError(cancelled)).toThrow(cancelled);
  });
});

function failure(type: "network" | "budget" | "rate_limit" | "cancelled", retryAfterMs: number | null = null) {
  return new RunFailure({ type, message: "it failed", recoverable: true, retryAfterMs });
}
