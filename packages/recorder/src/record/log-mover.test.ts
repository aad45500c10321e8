import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqlite } from "../database/sqlite.ts";
import { createFeedBuilder } from "../feed-builder.test-helper.ts";
import { newFolder } from "./queries/record-file.test-helper.ts";
import { openRecord } from "./record-store.ts";
import { recordVersion } from "./table-migrations.ts";

const logBytesMax = 4 * 1024 * 1024;

it("a long log of the record is moved on another thread, and begins anew", async () => {
  const file = join(await newFolder(), "troupe.db");
  const record = await openRecord({ file });
  const logBytes = async () => (await stat(`${file}-wal`)).size;
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" }).opened();
  record.write(builder.feed);
  await record.moveLog();
  const short = await logBytes();
  expect(short).toBeGreaterThan(0);
  for (let step = 0; (await logBytes()) < logBytesMax; step += 1) {
    root.replied([["shell", { command: `${step}${"x".repeat(200_000)}` }]]);
    record.write(builder.feed.slice(-1));
  }
  // SQLite's own checkpoints would have moved it in the event loop.
  expect((await stat(file)).size).toBeLessThan(logBytesMax);
  await record.moveLog();
  expect((await stat(file)).size).toBeGreaterThan(logBytesMax / 2);
  expect(await logBytes()).toBeLessThan(logBytesMax / 8);
  const other = openSqlite(file, { readOnly: true });
  expect(other.prepareValue<[], number>("SELECT count(*) FROM entries").get()).toBe(builder.feed.length);
  expect(other.pragma("user_version")).toBe(recordVersion);
  other.close();
  record.close();
});
