// Checks the profile's text only: it is untested on macOS.
import { expect, it } from "vitest";
import type { MountStep } from "../mount-plan/mount-steps.ts";
import { renderSeatbelt } from "./seatbelt.ts";

const steps: MountStep[] = [
  { kind: "write", path: '/Users/a/"work"', type: "folder" },
  { kind: "read", path: '/Users/a/"work"/.git/hooks', type: "folder" },
  { kind: "hidden", path: "/Users/a/.ssh", type: "folder" },
  { kind: "processes", path: "/proc" },
];

it("denies everything that it does not allow, and protected paths after the folders that contain them", () => {
  const lines = renderSeatbelt({ steps }, { network: false }).split("\n");
  expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(lines.slice(-5)).toEqual([
    String.raw`(allow file-read* file-write* (subpath "/Users/a/\"work\""))`,
    String.raw`(deny file-write-unlink (literal "/Users/a/\"work\""))`,
    String.raw`(allow file-read* (subpath "/Users/a/\"work\"/.git/hooks"))`,
    String.raw`(deny file-write* (subpath "/Users/a/\"work\"/.git/hooks"))`,
    '(deny file-read* file-write* (subpath "/Users/a/.ssh"))',
  ]);
  expect(lines.join()).not.toContain("network");
});

it("allows the network if the policy gives it", () => {
  expect(renderSeatbelt({ steps: [] }, { network: true })).toContain("(allow network*)");
});
