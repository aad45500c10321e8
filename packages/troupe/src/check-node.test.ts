import { describe, expect, test } from "vitest";
import { checkNode } from "./check-node.ts";

describe("the Node of a program", () => {
  test.each(["20.20.2", "22.12.9"])("%s is too old", (version) => {
    expect(() => checkNode(version)).toThrow(
      expect.objectContaining({
        code: "UNSUPPORTED_NODE",
        message: `troupe needs Node 22.13 or later; this is ${version}`,
        fix: "install Node 24 from https://nodejs.org",
      }),
    );
  });

  test.each(["22.13.0", "24.0.0"])("%s is supported", (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });
});
