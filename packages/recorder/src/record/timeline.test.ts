import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFeedBuilder, feedStartMs } from "../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

let folder: string;
let record: RecordStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-timeline-"));
  record = await openRecord({ file: join(folder, "troupe.db") });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

/** A parent that pauses, asks a person, and delegates to a child that waits in a queue. */
function aSession() {
  const builder = createFeedBuilder();
  const parent = builder.run({ agent: "main" });
  builder.requested(parent);
  parent.opened().replied([["shell", { command: "ls" }]]);
  const approval = parent.asked(0, "shell", { command: "ls" });
  parent.received(builder.answered(parent, approval));
  parent.finished(0, { durationMs: 400 });
  const planned = builder.planned("coder");
  parent.planned([planned]);
  const child = builder.run({ agent: "coder", parent });
  child.opened().replied([]).settled();
  parent.childSettled({ call: 0 }, child.response()).settled();
  return { builder, parent: parent.request.run, child: child.request.run, planned: planned.run, approval };
}

it("has when each run queued, worked, waited and ended", async () => {
  const { builder, parent, child, planned, approval } = aSession();
  record.write(builder.feed);
  const { events, from, more } = await record.reader.timeline(builder.feed[0]?.session ?? "", { after: 0, limit: 100 });
  expect({ from, more }).toEqual({ from: 0, more: false });
  const [first] = events;
  expect(first).toEqual({ run: parent, kind: "opened", at: expect.any(Number) });
  expect(first?.at).toBeGreaterThanOrEqual(feedStartMs);
  const seen = events.map(({ run, kind, durationMs, name }) => {
    const who = run === parent ? "parent" : run === child ? "child" : run === planned ? "planned" : run;
    return [who, kind, ...(durationMs === undefined ? [] : [durationMs]), ...(name === undefined ? [] : [name])];
  });
  expect(seen).toEqual([
    ["parent", "opened"],
    ["parent", "model", expect.any(Number)],
    ["parent", "asked", approval.id],
    ["parent", "answered", approval.id],
    ["parent", "tool", 400, "any"],
    ["parent", "delegated", "1"],
    ["planned", "queued"],
    ["child", "opened"],
    ["child", "model", expect.any(Number)],
    ["child", "settled"],
    ["parent", "settled"],
  ]);
});

it("continues after a place, in pages without gap or repeat, and says if the record was made anew", async () => {
  const { builder } = aSession();
  record.write(builder.feed);
  const session = builder.feed[0]?.session ?? "";
  const whole = await record.reader.timeline(session, { after: 0, limit: 100 });
  const paged = [];
  let after = 0;
  for (let more = true; more; ) {
    const page = await record.reader.timeline(session, { after, limit: 3 });
    paged.push(...page.events);
    ({ next: after, more } = page);
  }
  expect(paged).toEqual(whole.events);
  expect(await record.reader.timeline(session, { after, limit: 100 })).toEqual({
    events: [],
    from: after,
    next: after,
    more: false,
  });
  expect(await record.reader.timeline(session, { after: 1_000_000, limit: 100 })).toEqual(whole);
});

it("has nothing of another session", async () => {
  record.write(aSession().builder.feed);
  const { events } = await record.reader.timeline("01990000-0000-7000-8000-0000000000ff", { after: 0, limit: 100 });
  expect(events).toEqual([]);
});
