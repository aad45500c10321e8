import { expect, test } from "vitest";
import { type Entry, type EntryBody, openEntry, sealEntry } from "../protocol/entry.ts";
import { aRequest, aSpec, aToolCall, reply, run, session } from "./fixtures.test-helper.ts";
import { replayAgent } from "./replay.ts";

function entriesOf(...bodies: EntryBody[]): Entry[] {
  return bodies.map((body, index) =>
    openEntry(sealEntry({ v: 1, session, run, index, epoch: 1, host: "h", at: 100 + index, prev: null }, body).text),
  );
}

const opened: EntryBody = { kind: "run.opened", request: aRequest(), pin: aSpec() };

test("the state of a run follows from its entries alone", () => {
  const context = replayAgent(entriesOf(opened, reply(1, "I look", [aToolCall("read")])));
  expect(context).toMatchObject({ step: 1, openedAt: 100, lastAt: 101, usage: { own: { inputTokens: 100 } } });
  expect(context.calls).toMatchObject([{ phase: "running" }]);
});

test("a machine that fails keeps the state from before the failure", () => {
  const broken = { kind: "model.replied", step: 2, reply: null, durationMs: 0, index: 2, at: 102 } as unknown as Entry;
  const context = replayAgent([...entriesOf(opened, reply(1, "")), broken]);
  expect(context).toMatchObject({ step: 2, usage: { own: { inputTokens: 100 } } });
});

test("entries without an opening at the beginning are not a run", () => {
  expect(() => replayAgent([])).toThrow("a run's entries begin with run.opened, not with nothing");
  expect(() => replayAgent(entriesOf(reply(1, "")))).toThrow("not with model.replied");
});
