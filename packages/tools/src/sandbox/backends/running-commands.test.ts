import { expect, test } from "vitest";
import type { HeldEntry } from "../../workspace/held-folder.ts";
import type { MountStep } from "../mount-plan/mount-steps.ts";
import { hasExchangeableMount, registerCommand } from "./running-commands.ts";

const held = {} as HeldEntry;
const write = (path: string): MountStep => ({ kind: "write", path, type: "folder", held });
const read = (path: string): MountStep => ({ kind: "read", path, type: "folder", held });

test("a running command can exchange the entries that it may write, except its own mounts", () => {
  const other = registerCommand([read("/usr"), write("/w"), write("/w/.git"), read("/w/.git/hooks")]);
  expect(hasExchangeableMount([write("/w"), write("/w/.git"), read("/w/.git/hooks")])).toBe(false);
  expect(hasExchangeableMount([read("/w"), write("/w/src")])).toBe(true);
  expect(hasExchangeableMount([write("/w"), { kind: "hidden", path: "/w/a/.ssh", type: "folder" }])).toBe(true);
  // A workspace in the other command's workspace.
  expect(hasExchangeableMount([write("/w/a")])).toBe(true);
  expect(hasExchangeableMount([write("/usr/src"), write("/w2"), { kind: "scratch", path: "/w/tmp" }])).toBe(false);
  other.ended();
  expect(hasExchangeableMount([read("/w"), write("/w/src")])).toBe(false);
});

test("a command starts only when the mounts of earlier ones are complete", async () => {
  const first = registerCommand([write("/w")]);
  const second = registerCommand([write("/w")]);
  const order: string[] = [];
  const waiting = second.othersMounted().then(() => order.push("second"));
  await first.othersMounted();
  order.push("first");
  first.mounted();
  await waiting;
  expect(order).toEqual(["first", "second"]);
  first.ended();
  second.ended();
});
