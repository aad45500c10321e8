import { describe, expect, test } from "vitest";
import { holdOutside, releaseSteps } from "../mount-plan/held-workspace.ts";
import type { MountStep } from "../mount-plan/mount-steps.ts";
import { verifySandbox } from "./verify-sandbox.ts";

const own = `${process.pid}`;

/** The reason for which this process's own mounts differ from the steps. `/proc` is one of them everywhere. */
function check(...steps: MountStep[]): string | null {
  const held = holdOutside(steps);
  try {
    return verifySandbox(own, held);
  } finally {
    releaseSteps(held);
  }
}

describe("a check of a sandbox", () => {
  test("passes a mount that shows the held entry", () => {
    expect(check({ kind: "write", path: "/proc", type: "folder" })).toBeNull();
  });

  test("refuses a path that is part of another mount", () => {
    const reason = check({ kind: "write", path: `/proc/${own}`, type: "folder" });
    expect(reason).toBe(`/proc/${own}: another mount is at its place`);
  });

  test("refuses a mount that shows another entry", () => {
    const [step] = holdOutside([{ kind: "write", path: "/usr", type: "folder" }]);
    const other = { ...step, path: "/proc" } as MountStep;
    expect(verifySandbox(own, [other])).toBe("/proc: it was exchanged while the command was prepared");
    releaseSteps([other]);
  });

  test("refuses a read-only step whose mount is writable", () => {
    const devices = check({ kind: "write", path: "/dev", type: "folder" });
    expect(devices).toBeNull();
    expect(check({ kind: "read", path: "/dev", type: "folder" })).toBe("/dev: its mount is writable");
  });

  test("refuses a hidden path in a held folder that has no mount", () => {
    const [step] = holdOutside([{ kind: "write", path: "/proc", type: "folder" }]);
    const hidden: MountStep = { kind: "hidden", path: `/proc/${own}`, type: "folder" };
    expect(verifySandbox(own, [step as MountStep, hidden])).toBe(`/proc/${own}: another mount is at its place`);
    releaseSteps([step as MountStep]);
  });

  test("refuses everything if it cannot see the mounts", () => {
    expect(verifySandbox("0", [])).toMatch(/^the mounts cannot be checked: ENOENT/);
  });
});
