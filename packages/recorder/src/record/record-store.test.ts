import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecordChange } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../database/open-database.ts";
import { openSqlite } from "../database/sqlite.ts";
import { createFeedBuilder, feedStartMs, largeSession, rowsOf } from "../feed-builder.test-helper.ts";
import { openRecord, type RecordStore } from "./record-store.ts";
import { recordSpec, recordVersion } from "./table-migrations.ts";

let folder: string;
let file: string;
let record: RecordStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-record-"));
  file = join(folder, "troupe.db");
  record = await openRecord({ file });
});
afterEach(async () => {
  record.close();
  await rm(folder, { recursive: true });
});

function query<T>(sql: string): T[] {
  const database = openSqlite(file, { readOnly: true });
  const rows = database.prepare<[], T>(sql).all();
  database.close();
  return rows;
}

describe("the schema", () => {
  it("of messages has these columns, types and defaults, and no others", () => {
    const columns = query<{ name: string; type: string; notnull: number; dflt_value: string | null; pk: number }>(
      "PRAGMA table_info(messages)",
    );
    const told = columns.map(({ name, type, notnull, dflt_value, pk }) =>
      [name, type, pk ? "key" : "", notnull ? "not null" : "", dflt_value ?? ""].filter(Boolean).join(" "),
    );
    expect(told).toEqual([
      "id INTEGER key",
      "session_id TEXT not null",
      "parent_message_id INTEGER",
      "started_at TEXT not null",
      "completed_at TEXT",
      "duration_ms INTEGER",
      "agent_role TEXT",
      "agent_depth INTEGER 0",
      "model_id TEXT",
      "system_prompt_id TEXT",
      "request_type TEXT",
      "request_content TEXT",
      "context_mode TEXT",
      "context_token_count INTEGER",
      "response_content TEXT",
      "response_summary TEXT",
      "tool_calls_json TEXT",
      "files_modified_json TEXT",
      "prompt_tokens INTEGER",
      "completion_tokens INTEGER",
      "total_tokens INTEGER",
      "iteration_count INTEGER 0",
      "max_iterations INTEGER",
      "max_duration_ms INTEGER",
      "bailout_reason TEXT",
      "status TEXT 'pending'",
      "error_message TEXT",
      "metadata_json TEXT",
    ]);
  });

  it("of messages has these indexes and foreign keys, and ids that never come back", () => {
    const indexes = query<{ name: string }>("PRAGMA index_list(messages)").map(({ name }) => name);
    expect(indexes.sort()).toEqual(
      ["depth", "parent", "role", "session", "started", "status"].map((column) => `idx_messages_${column}`),
    );
    const columnsOf = (index: string) => query<{ name: string }>(`PRAGMA index_info(${index})`).map(({ name }) => name);
    expect(indexes.map(columnsOf)).toEqual([
      ["agent_depth"],
      ["parent_message_id"],
      ["agent_role"],
      ["session_id"],
      ["started_at"],
      ["status"],
    ]);
    expect(query("PRAGMA foreign_key_list(messages)")).toMatchObject([
      { table: "sessions", from: "session_id", to: "session_id" },
      { table: "messages", from: "parent_message_id", to: "id" },
    ]);
    expect(query("SELECT sql FROM sqlite_schema WHERE name = 'messages' AND sql LIKE '%AUTOINCREMENT%'")).toHaveLength(
      1,
    );
  });

  it("has these pragmas: WAL, NORMAL, foreign keys", () => {
    const database = openDatabase(recordSpec(file));
    const settings = ["journal_mode", "synchronous", "foreign_keys"].map((name) => database.pragma(name));
    expect(settings).toEqual(["wal", 1, 1]);
    expect(() => database.exec("INSERT INTO messages (session_id, started_at) VALUES ('unknown', 'now')")).toThrow(
      "FOREIGN KEY",
    );
    database.close();
  });

  it("is migrated step by step, keeping the rows", () => {
    record.write(largeSession().feed);
    record.close();
    const before = rowsOf(file);
    const spec = recordSpec(file);
    const migrations = [...spec.migrations, "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('new')"];
    openDatabase({ ...spec, migrations }).close();
    expect(rowsOf(file)).toEqual({ ...before, notes: [{ text: "new" }] });
    openDatabase({ ...spec, migrations }).close();
    expect(query("SELECT * FROM notes")).toHaveLength(1);
  });

  it("stays as it was when a migration fails", () => {
    const spec = recordSpec(file);
    const migrations = [...spec.migrations, "CREATE TABLE notes (text TEXT); INSERT INTO nowhere VALUES (1)"];
    expect(() => openDatabase({ ...spec, migrations })).toThrow("nowhere");
    expect(query("PRAGMA user_version")).toEqual([{ user_version: spec.migrations.length }]);
    expect(query("SELECT name FROM sqlite_schema WHERE name = 'notes'")).toEqual([]);
  });
});

describe("an unusable file", () => {
  it("of a newer version is refused by its number, and left unchanged", async () => {
    record.close();
    const newer = openSqlite(file);
    newer.pragma("user_version = 99");
    newer.close();
    const before = await readFile(file);
    await expect(openRecord({ file })).rejects.toMatchObject({
      code: "DATABASE_TOO_NEW",
      message: expect.stringMatching(new RegExp(`version 99.*up to ${recordVersion}$`)),
    });
    expect(await readFile(file)).toEqual(before);
  });

  it("that is damaged is refused with the way to rebuild it", async () => {
    const other = join(folder, "other.db");
    await writeFile(other, "not a database at all".repeat(100));
    await expect(openRecord({ file: other })).rejects.toMatchObject({
      code: "DATABASE_DAMAGED",
      fix: expect.stringContaining("troupe record rebuild"),
    });
  });

  it("that is a journal is not used as a record", async () => {
    const other = join(folder, "journal.db");
    const { openJournalStore } = await import("../journal/journal-store.ts");
    openJournalStore(other).close();
    await expect(openRecord({ file: other })).rejects.toMatchObject({ code: "DATABASE_DAMAGED" });
  });
});

describe("rows", () => {
  it("are one message per run, below its parent's", () => {
    const builder = largeSession();
    record.write(builder.feed);
    const rows = query<Record<string, unknown>>("SELECT * FROM messages WHERE request_type <> 'tool_call' ORDER BY id");
    expect(rows.map((row) => [row.id, row.parent_message_id, row.agent_role, row.agent_depth, row.status])).toEqual([
      [1, null, "main", 0, "completed"],
      [2, 1, "coder", 1, "completed"],
      [3, 1, "tester", 1, "failed"],
      [7, 2, "reviewer", 2, "failed"],
      [8, 1, "tester", 1, "cancelled"],
    ]);
    const [root, coder] = rows;
    expect(root).toMatchObject({
      request_type: "prompt",
      context_mode: "task_only",
      request_content: "the task of main",
    });
    expect(coder).toMatchObject({
      session_id: builder.session,
      request_type: "delegation",
      context_mode: "summary",
      files_modified_json: '["hello.md"]',
      response_summary: "coder is done",
      response_content: "all that coder has to say",
      prompt_tokens: 200,
      completion_tokens: 20,
      total_tokens: 220,
      max_iterations: 12,
      max_duration_ms: 60_000,
      duration_ms: 4_500,
    });
    expect(JSON.parse(String(coder?.tool_calls_json))).toMatchObject([
      { name: "write", args: { path: "hello.md" }, outcome: { ok: true }, duration_ms: 7 },
    ]);
    const reviewer = rows[3];
    expect(JSON.parse(String(reviewer?.metadata_json))).toMatchObject({ status: "rejected" });
  });

  it("have the value of each column for a run that stopped at a limit", () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    root.opened().replied([["delegate", { agent: "coder" }]]);
    const coder = builder.run({ agent: "coder", parent: root });
    const error = {
      type: "budget",
      message: "12 iterations",
      tool: null,
      recoverable: false,
      retryAfterMs: null,
    } as const;
    coder
      .opened()
      .replied([["write", { path: "a.md" }]])
      .finished(0, { filesCreated: ["a.md"] })
      .settled({ status: "bailed_out", bailoutReason: "max_iterations", error, filesCreated: ["a.md"] });
    record.write(builder.feed);
    const [row] = query<Record<string, string>>("SELECT * FROM messages WHERE agent_role = 'coder' ORDER BY id");
    const { tool_calls_json, metadata_json, ...plain } = row ?? {};
    expect(plain).toEqual({
      id: 2,
      session_id: builder.session,
      parent_message_id: 1,
      started_at: expect.stringMatching(/^2026-01-01T00:00:\d\d\.000Z$/),
      completed_at: expect.stringMatching(/^2026-01-01T00:00:\d\d\.000Z$/),
      duration_ms: 4_500,
      agent_role: "coder",
      agent_depth: 1,
      model_id: "demo/answered",
      system_prompt_id: "coder@0123456789ab",
      request_type: "delegation",
      request_content: "the task of coder",
      context_mode: "summary",
      context_token_count: 300,
      response_content: "all that coder has to say",
      response_summary: "coder is done",
      files_modified_json: '["a.md"]',
      prompt_tokens: 200,
      completion_tokens: 20,
      total_tokens: 220,
      iteration_count: 2,
      max_iterations: 12,
      max_duration_ms: 60_000,
      bailout_reason: "max_iterations",
      status: "failed",
      error_message: "12 iterations",
    });
    expect(JSON.parse(tool_calls_json ?? "")).toMatchObject([{ name: "write", args: { path: "a.md" } }]);
    expect(JSON.parse(metadata_json ?? "")).toMatchObject({ status: "bailed_out", bailout_reason: "max_iterations" });
  });

  it("are one message per finished tool call, below the message of its run", () => {
    const builder = largeSession();
    record.write(builder.feed);
    const rows = query<Record<string, string>>("SELECT * FROM messages WHERE request_type = 'tool_call' ORDER BY id");
    expect(
      rows.map((row) => [row.parent_message_id, row.agent_role, row.agent_depth, row.request_content, row.status]),
    ).toEqual([
      [2, "coder", 1, '{"tool":"write","args":{"path":"hello.md"}}', "completed"],
      [1, "main", 0, '{"tool":"read","args":{"path":"notes.md"}}', "completed"],
      [3, "tester", 1, '{"tool":"shell","args":{"command":"npm test"}}', "failed"],
    ]);
    const [write, , shell] = rows;
    expect(write).toMatchObject({
      session_id: builder.session,
      model_id: "demo/answered",
      response_content: "done",
      files_modified_json: '["hello.md"]',
      duration_ms: 7,
      error_message: null,
    });
    expect(Date.parse(write?.completed_at ?? "") - Date.parse(write?.started_at ?? "")).toBe(7);
    expect(shell).toMatchObject({ error_message: "exit 1", files_modified_json: "[]" });
    expect(JSON.parse(shell?.metadata_json ?? "")).toMatchObject({ step: 1, call: 0, error_type: "tool_error" });
  });

  it("use only the agreed words, and include every parent", () => {
    record.write(largeSession().feed);
    const words = ["pending", "running", "completed", "failed", "cancelled", "timeout"];
    const used = query<{ status: string }>("SELECT status FROM messages UNION SELECT status FROM sessions");
    expect(words).toEqual(expect.arrayContaining(used.map(({ status }) => status)));
    expect(query("PRAGMA foreign_key_check")).toEqual([]);
  });

  it("stay unchanged when an old item is repeated", () => {
    const builder = largeSession();
    record.write(builder.feed);
    const before = rowsOf(file);
    expect(record.write(builder.feed.slice(0, 5))).toEqual([]);
    expect(rowsOf(file)).toEqual(before);
  });

  it("contain nothing of a failed transaction, also later", async () => {
    const { feed } = largeSession();
    const broken = openSqlite(file);
    broken.exec(
      "CREATE TRIGGER fail BEFORE INSERT ON entries WHEN NEW.idx = 2 BEGIN SELECT RAISE(ABORT, 'broke'); END",
    );
    expect(() => record.write(feed)).toThrow("broke");
    broken.exec("DROP TRIGGER fail");
    broken.close();
    record.write(feed.slice(0, 3));
    const untouched = await openRecord({ file: join(folder, "untouched.db") });
    untouched.write(feed.slice(0, 3));
    untouched.close();
    expect(rowsOf(file)).toEqual(rowsOf(join(folder, "untouched.db")));
  });

  it("count a root's time from its request", async () => {
    const builder = largeSession();
    record.write(builder.feed);
    const [session] = await record.reader.sessions({ limit: 1 });
    expect(session?.startedAt).toBe(new Date(feedStartMs + 1_000).toISOString());
    expect(query("SELECT started_at FROM messages WHERE id = 1")).toEqual([{ started_at: session?.startedAt }]);
  });

  it("of a session are those of its first root, even if another run claims to be one", async () => {
    const builder = largeSession();
    record.write(builder.feed);
    const before = await record.reader.session(builder.session);
    const second = builder.run({ agent: "usurper" });
    builder.requested(second);
    second.opened();
    record.write(builder.feed);
    const { runs, runsActive, ...session } = (await record.reader.session(builder.session))?.session ?? {};
    expect(before?.session).toMatchObject(session);
    expect([runs, runsActive]).toEqual([6, 1]);
  });

  it("are the same if a child arrives before its parent, and the root before the request", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    const child = builder.run({ agent: "coder", parent: root });
    child.opened().settled();
    root.opened();
    builder.requested(root);
    record.write(builder.feed);
    const detail = await record.reader.session(builder.session);
    expect(detail?.session).toMatchObject({ rootRun: root.request.run, origin: "cli", demo: true, runs: 2 });
    expect(query("SELECT agent_role, parent_message_id FROM messages ORDER BY id")).toEqual([
      { agent_role: "coder", parent_message_id: 2 },
      { agent_role: "main", parent_message_id: null },
    ]);
  });
});

describe("the reader", () => {
  it("shows a requested session as pending before any host has taken it", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    record.write(builder.feed);
    const [session] = await record.reader.sessions({ limit: 10 });
    expect(session).toMatchObject({
      session: builder.session,
      rootRun: root.request.run,
      agent: "main",
      task: "the task of main",
      status: "pending",
      origin: "cli",
      demo: true,
      workspace: "/srv/work",
      completedAt: null,
      durationMs: null,
      runs: 1,
      runsActive: 1,
    });
    expect(await record.reader.run(root.request.run)).toMatchObject({
      exactStatus: "queued",
      order: 0,
      activity: "queued",
    });
  });

  it("shows a session's runs in the order of their arrival", async () => {
    const builder = largeSession();
    record.write(builder.feed);
    const detail = await record.reader.session(builder.session);
    expect(detail?.runs.map(({ order, agent, attempt, maxAttempts }) => [order, agent, attempt, maxAttempts])).toEqual([
      [0, "main", 1, 1],
      [1, "coder", 1, 2],
      [2, "tester", 1, 2],
      [3, "reviewer", 1, 2],
      [4, "tester", 2, 2],
    ]);
    expect(detail?.session).toMatchObject({ status: "completed", runs: 5, runsActive: 0, totalTokens: 1_100 });
    expect(detail?.session).toMatchObject({ durationMs: 4_500, summary: "main is done" });
    expect(detail?.runs[1]).toMatchObject({ warnings: ["no tests"], filesModified: ["hello.md"], bailoutReason: null });
    expect(detail?.runs[2]).toMatchObject({ status: "failed", error: "unreachable" });
    expect(detail?.position).toBe(builder.feed.length);
  });

  it("adds up the cost of a session, as long as every price is known", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    root.opened().replied([["delegate", { agent: "coder" }]], [10, 1], 0.5);
    const planned = builder.planned("coder");
    root.planned([planned]);
    const child = builder.run({ agent: "coder", parent: root, planned });
    const costUsd = async () => {
      record.write(builder.feed);
      return (await record.reader.session(builder.session))?.session.costUsd;
    };
    expect(await costUsd()).toBe(0.5);
    child.opened().replied([["ls", null]], [10, 1], 0.25);
    expect(await costUsd()).toBe(0.75);
    child.replied([], [10, 1], null);
    expect(await costUsd()).toBeNull();
  });

  it("shows the budget of a run, and its request", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    root.opened({}, { tokens: 50_000 });
    record.write(builder.feed);
    expect(await record.reader.run(root.request.run)).toMatchObject({
      contextMode: "task_only",
      maxIterations: 12,
      maxToolCalls: 30,
      maxDurationMs: 60_000,
      budget: { tokens: 50_000, costUsd: null, toolCalls: null, spawns: null },
      costUsd: 0,
      queuePosition: null,
      host: "host",
    });
  });

  it("has no host for a run without a claim", async () => {
    const builder = createFeedBuilder();
    const root = builder.run({ agent: "main" });
    builder.requested(root);
    record.write(builder.feed);
    expect(await record.reader.run(root.request.run)).toMatchObject({ exactStatus: "queued", host: null });
  });

  it("lists the newest session first, up to the limit", async () => {
    const { createCountingIds } = await import("@troupe/core/memory");
    const ids = createCountingIds();
    const sessions: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const builder = createFeedBuilder(ids);
      builder.requested(builder.run({ agent: "main" }));
      record.write(builder.feed.map((item) => ({ ...item, position: i + 1 })));
      sessions.unshift(builder.session);
    }
    const listed = await record.reader.sessions({ limit: 2 });
    expect(listed.map(({ session }) => session)).toEqual(sessions.slice(0, 2));
  });

  it("returns the root's response once it has settled", async () => {
    const builder = largeSession();
    record.write(builder.feed.slice(0, -1));
    expect(await record.reader.response(builder.session)).toBeNull();
    record.write(builder.feed.slice(-1));
    expect(await record.reader.response(builder.session)).toMatchObject({ agent: "main", filesCreated: ["hello.md"] });
  });

  it("returns a run's entries as they were stored", async () => {
    const builder = largeSession();
    record.write(builder.feed);
    const run = builder.feed.find(({ kind }) => kind === "entry");
    if (run?.kind !== "entry") throw new Error("no entry in the story");
    const texts = builder.feed.filter((item) => item.kind === "entry" && item.run === run.run).map(({ text }) => text);
    expect(await record.reader.entries(run.run, { from: 0, limit: 100 })).toEqual(texts);
    expect(await record.reader.entries(run.run, { from: 1, limit: 2 })).toEqual(texts.slice(1, 3));
  });

  it("returns nothing for unknown ids", async () => {
    const unknown = "00000000-0000-7000-8000-00000000ffff";
    expect(await record.reader.session(unknown)).toBeNull();
    expect(await record.reader.run(unknown)).toBeNull();
    expect(await record.reader.response(unknown)).toBeNull();
    expect(await record.reader.entries(unknown, { from: 0, limit: 1 })).toEqual([]);
  });

  it("returns exactly the missed changes to a client that reconnects, and a reload if they are too many", async () => {
    const builder = largeSession();
    record.write(builder.feed.slice(0, 6));
    const seen = record.reader.position();
    expect(await record.reader.changesSince(seen)).toEqual({ position: seen, sessions: [], runs: [], approvals: [] });
    record.write(builder.feed.slice(6, 8));
    const touched = builder.feed.slice(6, 8).flatMap((item) => (item.kind === "entry" ? [item.run] : []));
    const change = await record.reader.changesSince(seen);
    expect(change?.runs.map(({ run }) => run)).toEqual([...new Set(touched)]);
    expect(change?.sessions.map(({ session }) => session)).toEqual([builder.session]);
    expect(await record.reader.changesSince(record.reader.position() + 1)).toBeNull();
    const crowd = createFeedBuilder();
    const root = crowd.run({ agent: "main" });
    for (let i = 0; i < 501; i += 1) crowd.run({ agent: "child", parent: root }).opened();
    record.write(crowd.feed.map((item) => ({ ...item, position: item.position + 100 })));
    expect(await record.reader.changesSince(seen)).toBeNull();
  });

  it("calls listeners for each batch, until they are removed", async () => {
    const builder = largeSession();
    const changes: RecordChange[] = [];
    const leave = record.reader.onChange((change) => changes.push(change));
    record.write(builder.feed.slice(0, 6));
    record.write(builder.feed.slice(0, 6));
    record.write(builder.feed.slice(6));
    leave();
    expect(changes.map(({ position }) => position)).toEqual([6, builder.feed.length]);
    expect(changes.at(-1)?.sessions).toMatchObject([{ session: builder.session, status: "completed" }]);
    expect(changes.at(-1)?.runs).toHaveLength(5);
  });

  it("continues if a listener throws", () => {
    record.reader.onChange(() => {
      throw new Error("the page is gone");
    });
    expect(record.write(largeSession().feed)).toMatchObject([
      { kind: "listener", message: expect.stringContaining("gone") },
    ]);
    expect(record.reader.position()).toBeGreaterThan(0);
  });
});
