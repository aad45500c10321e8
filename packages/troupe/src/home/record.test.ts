/** Each journal that a home was used with has a record of its own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../testing/folders.ts";
import { selectRecord } from "./record.ts";

afterEach(removeTemporaryFolders);

test("a home that switches between two journals keeps a record for each", async () => {
  const home = { path: join(temporaryFolder(), "home") };
  mkdirSync(home.path);
  const record = join(home.path, "troupe.db");
  const write = (text: string): void => {
    for (const part of ["", "-wal"]) writeFileSync(record + part, text + part);
  };
  const read = (): string[] => ["", "-wal"].map((part) => readFileSync(record + part, "utf8"));

  await selectRecord(home, "embedded");
  write("alone");
  await selectRecord(home, "nats-troupe");
  expect(existsSync(record)).toBe(false);
  write("shared");
  await selectRecord(home, "nats-troupe");
  expect(read()).toEqual(["shared", "shared-wal"]);
  await selectRecord(home, "embedded");
  expect(read()).toEqual(["alone", "alone-wal"]);
  await selectRecord(home, "nats-troupe");
  expect(read()).toEqual(["shared", "shared-wal"]);

  // Killed in the middle of it, just before the end.
  writeFileSync(join(home.path, "record.store"), "moving nats-troupe\n");
  await selectRecord(home, "embedded");
  expect(read()).toEqual(["alone", "alone-wal"]);
});
