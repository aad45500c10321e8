import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { describe, expect, it } from "vitest";
import { openSqlite } from "../../database/sqlite.ts";
import { createFeedBuilder, feedStartMs, largeSession, type RunBuilder } from "../../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "../record-store.ts";
import { recordVersion } from "../table-migrations.ts";
import { newFolder, recordOf } from "./record-file.test-helper.ts";

function search({ reader }: RecordStore, words: string, options: { agent?: string; sinceMs?: number } = {}) {
  const { agent = null, sinceMs = null } = options;
  return reader.queries.search({ words, agent, sinceMs, after: null, limit: 50 });
}

async function agentsFound(record: RecordStore, words: string, options?: { agent?: string; sinceMs?: number }) {
  return (await search(record, words, options)).hits.map(({ agent, call }) => (call ? `${agent} ${call.tool}` : agent));
}

/** A session whose root and child have words of their own. */
function sessionOfWords(change: (root: RunBuilder) => unknown = () => {}) {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([["shell", { command: "npm run migrate-database" }]]);
  root.finished(0, { output: "Tabelle „Müller“ angelegt, 42 rows" });
  const child = builder.run({ agent: "news_lead", parent: root });
  child.opened({ team: "news" }).settled({ details: "The flaky test waits for a clock.", summary: "a summary" });
  change(root);
  root.settled({ details: "All tables are migrated" });
  return { builder, root, child };
}

describe("a search", () => {
  it("finds requests, responses, arguments and results, the newest first", async () => {
    const { builder, root, child } = sessionOfWords();
    const record = await recordOf(builder.feed);
    expect(await agentsFound(record, "flaky clock")).toEqual(["news_lead"]);
    expect(await agentsFound(record, "migrate-database")).toEqual(["main shell"]);
    expect(await agentsFound(record, "muller ROWS")).toEqual(["main shell"]);
    expect(await agentsFound(record, "task")).toEqual(["news_lead", "main"]);
    const [hit] = (await search(record, "flaky")).hits;
    expect(hit).toMatchObject({
      kind: "run",
      run: child.request.run,
      session: builder.session,
      team: "news",
      call: null,
    });
    const [call] = (await search(record, "angelegt")).hits;
    expect(call).toMatchObject({ kind: "tool_call", run: root.request.run, call: { step: 1, call: 0, tool: "shell" } });
  });

  it("needs all words, takes quotes as a phrase, and * as any ending", async () => {
    const record = await recordOf(sessionOfWords().builder.feed);
    expect(await agentsFound(record, "flaky database")).toEqual([]);
    expect(await agentsFound(record, '"test waits for"')).toEqual(["news_lead"]);
    expect(await agentsFound(record, '"waits test"')).toEqual([]);
    expect(await agentsFound(record, "migra*")).toEqual(["main shell", "main"]);
    expect(await agentsFound(record, "migra")).toEqual([]);
  });

  it("marks the matches of a snippet as parts, and leaves all other text as it is", async () => {
    const hostile = "\u001b[31mred\u001b[0m <b>flaky</b> \u0001 clock";
    const { builder } = sessionOfWords((root) => root.settled({ details: hostile }));
    const [hit] = (await search(await recordOf(builder.feed), "b flaky")).hits;
    expect(hit?.snippet.filter(({ isMatch }) => isMatch).map(({ text }) => text)).toEqual(["b", "flaky", "b"]);
    expect(hit?.snippet.map(({ text }) => text).join("")).toBe(hostile);
  });

  it.each([
    '"',
    '""',
    '"flaky',
    'flaky"',
    "flaky AND",
    "OR",
    "NOT flaky",
    "NEAR(flaky clock)",
    "agent_role:main",
    "(flaky",
    "flaky)",
    "^flaky",
    "flaky + clock",
    "-flaky",
    "{flaky}",
    "'; DROP TABLE words; --",
    "flaky\0clock",
    "*",
    "**",
    "words MATCH",
    "flaky:",
    "a*b*",
    "\ud800",
    "…",
    "flaky\\",
    "%",
    "🙂",
  ])("with the text %j gives hits or a usage error, never an error of SQL", async (words) => {
    const record = await recordOf(sessionOfWords().builder.feed);
    const result = await search(record, words).catch((error: unknown) => error);
    if (TroupeError.is(result)) {
      expect(result).toMatchObject({ code: "USAGE", fix: expect.stringContaining("troupe search") });
      expect(result.message).not.toMatch(/fts5|SQL|syntax/i);
    } else expect(result).toMatchObject({ hits: expect.any(Array) });
  });

  it.each(["", "  ", "***", '""', "-- !"])("without a word (%j) is refused, and says how to search", async (words) => {
    const record = await recordOf([]);
    await expect(search(record, words)).rejects.toMatchObject({ code: "USAGE" });
  });

  it.each([["x".repeat(1_001)], ["a ".repeat(33)]])("that is too long is refused", async (words) => {
    await expect(search(await recordOf([]), words)).rejects.toMatchObject({ code: "USAGE" });
  });

  it("can be limited to an agent, by its id or as team/agent, and to a time", async () => {
    const record = await recordOf(sessionOfWords().builder.feed);
    expect(await agentsFound(record, "task", { agent: "main" })).toEqual(["main"]);
    expect(await agentsFound(record, "task", { agent: "news/lead" })).toEqual(["news_lead"]);
    expect(await agentsFound(record, "task", { agent: "news" })).toEqual([]);
    expect(await agentsFound(record, "task", { sinceMs: feedStartMs })).toHaveLength(2);
    expect(await agentsFound(record, "task", { sinceMs: feedStartMs + 86_400_000 })).toEqual([]);
  });

  it.each(["--", '"', "", "a b", "\0", "no*", "MATCH"])("of the agent %j has no hit and no error", async (agent) => {
    const record = await recordOf(sessionOfWords().builder.feed);
    expect(await agentsFound(record, "task", { agent })).toEqual([]);
  });

  it("gives every hit once over its pages", async () => {
    const { feed } = largeSession();
    const { reader } = await recordOf(feed);
    const options = { words: "task", agent: null, sinceMs: null };
    const all = await reader.queries.search({ ...options, after: null, limit: 100 });
    expect(all.next).toBeNull();
    const places: number[] = [];
    for (let after: number | null = null; ; ) {
      const { hits, next } = await reader.queries.search({ ...options, after, limit: 2 });
      places.push(...hits.map(({ place }) => place));
      if (next === null) break;
      after = next;
    }
    expect(places).toEqual(all.hits.map(({ place }) => place));
    expect(places.length).toBeGreaterThan(4);
  });
});

describe("the index of words", () => {
  it.each([1, 3, 7])("agrees with its texts after batches of %i items, and forgets replaced texts", async (batch) => {
    const { feed } = largeSession();
    const file = join(await newFolder(), "troupe.db");
    const record = await openRecord({ file });
    for (let first = 0; first < feed.length; first += batch) record.write(feed.slice(first, first + batch));
    record.close();
    const database = openSqlite(file);
    // Fails with SQLITE_CORRUPT if the index differs from the table.
    const check = () => database.exec("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)");
    expect(check).not.toThrow();
    database.close();
  });

  it("of an older record is built when the record is opened", async () => {
    const { builder } = sessionOfWords();
    const file = join(await newFolder(), "troupe.db");
    const whole = await openRecord({ file });
    whole.write(builder.feed);
    whole.close();
    const database = openSqlite(file);
    database.exec("DROP TRIGGER words_insert; DROP TRIGGER words_update; DROP TRIGGER words_delete; DROP TABLE words");
    database.exec("DROP TABLE session_costs; DROP TABLE summed_sessions");
    database.pragma("user_version = 15");
    database.close();
    const record = await openRecord({ file });
    expect(await agentsFound(record, "flaky clock")).toEqual(["news_lead"]);
    record.close();
  });

  it("of a record from a newer version is not touched", async () => {
    const file = join(await newFolder(), "troupe.db");
    (await openRecord({ file })).close();
    const database = openSqlite(file);
    database.pragma(`user_version = ${recordVersion + 1}`);
    database.close();
    await expect(openRecord({ file })).rejects.toMatchObject({ code: "DATABASE_TOO_NEW", fix: expect.any(String) });
  });
});

it("an empty record has no hits", async () => {
  expect(await search(await recordOf([]), "anything")).toEqual({ hits: [], next: null });
});
