import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFeedBuilder, type FeedBuilder, noMetrics, type RunBuilder } from "../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";

/** Children that wait for a slot are shown in their order before they have a journal. */

let folder: string;
let record: RecordStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-queue-"));
  record = await openRecord({ file: join(folder, "troupe.db") });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

function aBatch(size: number): { builder: FeedBuilder; root: RunBuilder; children: RunBuilder[] } {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  const planned = Array.from({ length: size }, (_, item) => builder.planned(`worker-${item}`, { item }));
  root
    .opened()
    .replied([["delegate", { tasks: [] }]])
    .planned(planned);
  return { builder, root, children: planned.map((child) => builder.run({ ...child, parent: root, planned: child })) };
}

const queuePositionsOf = (runs: readonly RunRow[]) => runs.map(({ agent, queuePosition }) => [agent, queuePosition]);
const queuePositions = async (builder: FeedBuilder) =>
  queuePositionsOf((await record.reader.session(builder.session))?.runs ?? []);

it("counts from 1 among the queued children of one parent", async () => {
  const { builder, children } = aBatch(3);
  record.write(builder.feed);
  expect(await queuePositions(builder)).toEqual([
    ["main", null],
    ["worker-0", 1],
    ["worker-1", 2],
    ["worker-2", 3],
  ]);
  expect(await record.reader.run(children[2]?.request.run ?? "")).toMatchObject({
    queuePosition: 3,
    status: "pending",
    exactStatus: "queued",
    contextMode: "summary",
    activity: "queued",
  });
});

it("closes the gap when one starts or is dropped", async () => {
  const { builder, root, children } = aBatch(4);
  const [first, second] = children;
  first?.opened();
  if (second) root.childSettled({ call: 0, item: 1 }, second.response({ status: "cancelled", metrics: noMetrics }));
  record.write(builder.feed);
  expect(await queuePositions(builder)).toEqual([
    ["main", null],
    ["worker-0", null],
    ["worker-1", null],
    ["worker-2", 1],
    ["worker-3", 2],
  ]);
});

it("is separate for each parent, and empty for a root", async () => {
  const { builder, root, children } = aBatch(1);
  const [lead] = children;
  const grandchild = builder.planned("helper");
  lead
    ?.opened()
    .replied([["delegate", { agent: "helper" }]])
    .planned([grandchild]);
  root.replied([["delegate", { agent: "x" }]]).planned([builder.planned("late")]);
  const waiting = createFeedBuilder({ next: () => "00000000-0000-7000-8000-00000000eeee" });
  waiting.requested(waiting.run({ agent: "main" }));
  record.write(builder.feed);
  record.write(waiting.feed.map((item) => ({ ...item, position: builder.feed.length + item.position })));
  expect(await queuePositions(builder)).toEqual([
    ["main", null],
    ["worker-0", null],
    ["helper", 1],
    ["late", 1],
  ]);
  expect(await queuePositions(waiting)).toEqual([["main", null]]);
});

it("takes in no child after the parent has settled", async () => {
  const { builder, root } = aBatch(1);
  root.settled().planned([builder.planned("late")]);
  record.write(builder.feed);
  expect(await queuePositions(builder)).toEqual([
    ["main", null],
    ["worker-0", null],
  ]);
});

it("sends only the row of the child that started: the page computes the positions of its siblings", async () => {
  const { builder, children } = aBatch(1_000);
  const changes: RecordChange[] = [];
  record.write(builder.feed);
  const seen = record.reader.position();
  record.reader.onChange((change) => changes.push(change));
  children[0]?.opened();
  record.write(builder.feed);
  expect(changes.map(({ runs }) => queuePositionsOf(runs))).toEqual([[["worker-0", null]]]);
  expect(queuePositionsOf((await record.reader.changesSince(seen))?.runs ?? [])).toEqual([["worker-0", null]]);

  const rows = (await record.reader.session(builder.session))?.runs ?? [];
  const queued = rows.filter(({ exactStatus }) => exactStatus === "queued");
  expect(queued.map(({ queuePosition }) => queuePosition)).toEqual(queued.map((_, i) => i + 1));
});
