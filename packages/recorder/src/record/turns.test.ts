import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FeedItem, SessionRow } from "@troupe/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import {
  createFeedBuilder,
  type FeedBuilder,
  feedStartMs,
  type RunBuilder,
  rowsOf,
} from "../feed-builder.test-helper.ts";
import { openRecord } from "./record-store.ts";

/** A continued session is one session: its status is that of the newest turn, and its sums cover all turns. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-turns-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Two turns: the first has two runs, the second is only requested. */
function twoTurns(): { builder: FeedBuilder; first: RunBuilder; child: RunBuilder; second: RunBuilder } {
  const builder = createFeedBuilder();
  const first = builder.run({ agent: "main" });
  builder.requested(first);
  first.opened().replied([["delegate", { agent: "coder", task: "code" }]]);
  const child = builder.run({ agent: "coder", parent: first });
  child.opened().settled();
  first.childSettled({ call: 0 }, child.response()).replied([]).settled({ summary: "the first answer" });
  const second = builder.run({ agent: "coder", continues: first });
  builder.continued(second);
  return { builder, first, child, second };
}

const at = (seconds: number): string => new Date(feedStartMs + seconds * 1_000).toISOString();

async function recorded(feed: readonly FeedItem[], batch = feed.length) {
  const file = join(folder, `${batch}.db`);
  const record = await openRecord({ file });
  for (let i = 0; i < feed.length; i += batch) expect(record.write(feed.slice(i, i + batch))).toEqual([]);
  const session = feed[0]?.session ?? "";
  const detail = await record.reader.session(session);
  const response = await record.reader.response(session);
  record.close();
  return { file, row: detail?.session as SessionRow, runs: detail?.runs ?? [], response };
}

describe("a session with a second turn", () => {
  it("is pending again after its request, and has the name of its first request", async () => {
    const { builder, second } = twoTurns();
    const { row, response } = await recorded(builder.feed);
    expect(row).toMatchObject({
      rootRun: second.request.run,
      agent: "main",
      task: "the task of main",
      status: "pending",
      origin: "cli",
      demo: false,
      startedAt: at(1),
      turns: 2,
      turnStartedAt: at(9),
      completedAt: null,
      durationMs: null,
      summary: null,
      runs: 3,
      runsActive: 1,
    });
    expect(response).toBeNull();
  });

  it("has the answer, the error and the status of the second turn, and the sums of both", async () => {
    const { builder, second } = twoTurns();
    second.opened().replied([]).settled({ status: "failed", success: false, summary: "could not" });
    const { row, response } = await recorded(builder.feed);
    expect(row).toMatchObject({
      status: "failed",
      summary: "could not",
      startedAt: at(1),
      completedAt: at(12),
      durationMs: 2 * 4_500,
      runs: 3,
      totalTokens: 3 * 220,
    });
    expect(response).toMatchObject({ runId: second.request.run, summary: "could not" });
  });

  it("keeps its turns apart in messages", async () => {
    const { builder, second } = twoTurns();
    second.opened();
    const { file, runs } = await recorded(builder.feed);
    expect(runs.map(({ order, parentRun, agent }) => [order, parentRun === null, agent])).toEqual([
      [0, true, "main"],
      [1, false, "coder"],
      [2, true, "coder"],
    ]);
    const database = openSqlite(file, { readOnly: true });
    const told = database
      .prepare<[], object>("SELECT request_type, parent_message_id FROM messages ORDER BY id")
      .all()
      .map(Object.values);
    database.close();
    expect(told).toEqual([
      ["prompt", null],
      ["delegation", 1],
      ["continuation", null],
    ]);
  });

  it.each([1, 3, 8, 9])("has the same rows with %i items at once and with all at once", async (batch) => {
    const { builder, second } = twoTurns();
    second.opened().replied([]).settled();
    expect(rowsOf((await recorded(builder.feed, batch)).file)).toEqual(rowsOf((await recorded(builder.feed)).file));
  });

  it("is listed by the time of its newest turn", async () => {
    const { builder, second } = twoTurns();
    const other = createFeedBuilder({ next: () => "00000000-0000-7000-8000-00000000eeee" });
    other.requested(other.run({ agent: "main" }));
    const before = builder.feed.slice(0, -1);
    const feed = [...before, ...other.feed, ...builder.feed.slice(-1)].map((item, i) => ({ ...item, position: i + 1 }));
    const record = await openRecord({ file: join(folder, "list.db") });
    record.write(feed);
    const listed = await record.reader.sessions({ limit: 9 });
    record.close();
    expect(second.request.session).toBe(builder.session);
    expect(listed.map(({ session }) => session)).toEqual([builder.session, other.session]);
  });
});
