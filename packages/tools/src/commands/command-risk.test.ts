import { defaultPolicy } from "@troupe/core";
import { expect, test } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { commandConsent, commandRisk } from "./command-risk.ts";

const nothing = { path: "/nowhere" };

test("a command without a containing sandbox is of high risk, and needs approval if the agent has write scopes", async () => {
  const sandbox = await createSandbox(nothing);
  expect(commandRisk(sandbox)).toBe("high");
  expect(commandConsent(sandbox, { writes: [["test"]] })).toContain("no sandbox here enforces that for commands");
});

test("no approval is requested for a command that this machine's policy refuses anyway", async () => {
  const sandbox = await createSandbox({ ...nothing, policy: { ...defaultPolicy.sandbox, mode: "required" } });
  expect(commandRisk(sandbox)).toBe("low");
  expect(commandConsent(sandbox, { writes: [["test"]] })).toBeNull();
});
