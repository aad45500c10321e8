import { defaultPolicy } from "@troupe/core";
import { expect, test } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { commandConsent, commandRisk } from "./command-risk.ts";

const nothing = { path: "/nowhere" };

test("a command that nothing contains is of high risk, and a person is asked where the agent is kept to folders", async () => {
  const sandbox = await createSandbox(nothing);
  expect(commandRisk(sandbox)).toBe("high");
  expect(commandConsent(sandbox, { writes: [["test"]] })).toContain("no sandbox here keeps a command to that");
});

test("nobody is asked about a command that this machine's policy has refused in any case", async () => {
  const sandbox = await createSandbox({ ...nothing, policy: { ...defaultPolicy.sandbox, mode: "required" } });
  expect(commandRisk(sandbox)).toBe("low");
  expect(commandConsent(sandbox, { writes: [["test"]] })).toBeNull();
});
