import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { watchInterrupts } from "./interrupts.ts";

function watch() {
  const source = new EventEmitter();
  const exits: number[] = [];
  let nowMs = 0;
  const interrupts = watchInterrupts({ source, exit: (code) => exits.push(code), monotonicMs: () => nowMs });
  const send = (name: string, atMs: number) => {
    nowMs = atMs;
    source.emit(name);
  };
  return { source, exits, interrupts, send };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
])("the first %s requests a stop, and is stored as exit code %d", (name, code) => {
  const { interrupts, exits, send } = watch();
  expect(interrupts.exitCode()).toBeNull();
  send(name, 1);
  expect(interrupts.signal.aborted).toBe(true);
  expect(interrupts.exitCode()).toBe(code);
  expect(exits).toEqual([]);
});

test("the second one exits at once", () => {
  const { exits, send } = watch();
  send("SIGTERM", 1_000);
  send("SIGINT", 1_100);
  expect(exits).toEqual([130]);
});

test("one Ctrl-C that arrives twice counts once", () => {
  const { exits, send } = watch();
  send("SIGINT", 1_000);
  send("SIGINT", 1_003);
  send("SIGINT", 1_099);
  expect(exits).toEqual([]);
  send("SIGINT", 1_500);
  expect(exits).toEqual([130]);
});

test("no listener is left after it is disposed", () => {
  const { source, interrupts } = watch();
  interrupts.dispose();
  expect(source.eventNames()).toEqual([]);
});
