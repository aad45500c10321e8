import { expect, test } from "vitest";
import { openEntry, sealEntry } from "../protocol/entry.ts";
import { toFact } from "./facts.ts";
import { aRequest, aSpec, run, session, timerFired } from "./fixtures.test-helper.ts";

const head = { v: 1 as const, session, run, index: 3, epoch: 1, host: "h1", at: 12, prev: null };

test("an entry becomes the event of its kind, at its time", () => {
  const entry = openEntry(sealEntry(head, timerFired("deadline")).text);
  expect(toFact(entry)).toMatchObject({ type: "timer.fired", timer: "deadline", at: 12 });
});

test("the opening is the machine's input and not an event", () => {
  const opened = openEntry(sealEntry(head, { kind: "run.opened", request: aRequest(), pin: aSpec() }).text);
  expect(() => toFact(opened)).toThrow("run.opened is the machine's input");
});
