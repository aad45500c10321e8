/**
 * Sessions recorded by older versions. This version must replay each of them to the same entries, and must read the
 * databases. See `recorded/README.md`.
 */
import { readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { Entry, EntryBody, FeedItem, SessionDetail } from "@troupe/core";
import { openEntry, type SealedEntry, sealEntry } from "@troupe/core/internal";
import { openRecord, openSqliteJournal, readSessionFeed, startRecorder } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";
import { type Replayed, replaySession } from "@troupe/runtime";
import { describe, expect, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const root = path.join(import.meta.dirname, "recorded");
const versions = readdirSync(root, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []));

/** Output of the recording version about its sessions. Later versions may add fields, and change none. */
interface Expected {
  sessions: Record<string, { replayed: Replayed; shown: Pick<SessionDetail, "session" | "runs" | "approvals"> }>;
  list: { session: string }[];
  approvals: { id: string }[];
}

const readExpected = async (version: string): Promise<Expected> =>
  JSON.parse(await readFile(path.join(root, version, "expected.json"), "utf8"));

const namesOf = (version: string): string[] =>
  readdirSync(path.join(root, version)).flatMap((file) => (file.endsWith(".jsonl") ? [path.parse(file).name] : []));

async function readFixture(version: string, name: string): Promise<{ session: string; from: FeedItem[] }> {
  const text = await readFile(path.join(root, version, `${name}.jsonl`), "utf8");
  const from: FeedItem[] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { session: from[0]?.session ?? "", from };
}

/** Copies the recorded databases into a temporary home, because some commands write to them. */
async function copyHome(version: string, test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const home = await tempFolder("recorded", test);
  for (const name of ["journal.db", "troupe.db"]) {
    await writeFile(path.join(home, name), gunzipSync(await readFile(path.join(root, version, "home", `${name}.gz`))));
  }
  return home;
}

async function runTroupe(home: string, ...words: string[]) {
  const { code, stdout, stderr } = await troupe(words, { home });
  expect({ code, stderr: code === 0 ? "" : stderr }, words.join(" ")).toEqual({ code: 0, stderr: "" });
  return stdout;
}

it("has sessions of the first version", () => {
  expect(versions).toContain("0.1.0");
});

describe.for(versions)("sessions that version %s recorded", (version) => {
  const names = namesOf(version);

  it.for(names)("%s replays the same", async (name, { expect }) => {
    const { replayed } = (await readExpected(version)).sessions[name] ?? {};
    const now = await replaySession(await readFixture(version, name));
    expect(now.divergence).toBeNull();
    expect(now).toEqual(replayed);
  });

  it("have entries of which this version reads every field", async ({ expect }) => {
    expect(Object.keys((await readExpected(version)).sessions).sort()).toEqual(names);
    for (const name of names) {
      for (const { text, kind } of (await readFixture(version, name)).from) {
        if (kind === "entry") expect(openEntry(text)).toMatchObject(JSON.parse(text));
      }
    }
  });

  it.for(names)("%s replays the same with additional fields of a later version", async (name, { expect }) => {
    const { session, from } = await readFixture(version, name);
    expect((await replaySession({ session, from: withLaterFields(from) })).divergence).toBeNull();
  });
});

/** Sessions for the tests of the command line, which starts a process for each. The other tests read all sessions. */
const shownSessions = ["tree", "asked", "turns", "killed", "waiting"];

describe.for(versions)("a home that version %s wrote", { timeout: 120_000 }, (version) => {
  it("is listed and shown by the command line as before", async (test) => {
    const home = await copyHome(version, test);
    const { sessions, list, approvals } = await readExpected(version);
    expect(JSON.parse(await runTroupe(home, "sessions", "ls", "--json"))).toMatchObject(list);
    expect(JSON.parse(await runTroupe(home, "approvals", "ls", "--json"))).toMatchObject(approvals);
    for (const name of shownSessions) {
      const { replayed, shown } = sessions[name] ?? {};
      expect(JSON.parse(await runTroupe(home, "sessions", "show", replayed?.session ?? "", "--json"))).toMatchObject(
        shown ?? {},
      );
    }
    const tree = await runTroupe(home, "sessions", "show", sessions.tree?.replayed.session ?? "", "--tree");
    const runs = tree.match(/\b(lead|scout|builder|checker)\b(?=.*(completed|failed|bailed))/g) ?? [];
    expect(runs.sort()).toEqual(["builder", "checker", "checker", "lead", "scout", "scout", "scout", "scout"]);
  });

  it("is replayed by the command line", async (test) => {
    const home = await copyHome(version, test);
    const { sessions } = await readExpected(version);
    for (const name of shownSessions) {
      const { replayed } = sessions[name] ?? {};
      const output = await runTroupe(home, "sessions", "replay", replayed?.session ?? "", "--json");
      expect(JSON.parse(output)).toMatchObject({ ...replayed, same: true });
    }
  });

  it("has a journal and a record that this version reads", async (test) => {
    const home = await copyHome(version, test);
    const record = await openRecord({ file: path.join(home, "troupe.db") });
    test.onTestFinished(() => record.close());
    for (const [name, { replayed, shown }] of Object.entries((await readExpected(version)).sessions)) {
      const { session } = replayed;
      const { from } = await readFixture(version, name);
      expect(await readSessionFeed({ file: path.join(home, "journal.db"), session })).toEqual(from);
      expect(await record.reader.session(session)).toMatchObject(detailOf(shown));
    }
  });

  it("accepts an answer to an open question", async (test) => {
    const home = await copyHome(version, test);
    const { approvals } = await readExpected(version);
    const [left] = approvals;
    await runTroupe(home, "approvals", "deny", left?.id ?? "", "--reason", "too late");
    expect(JSON.parse(await runTroupe(home, "approvals", "ls", "--json"))).toEqual([]);
  });

  it("has a journal that rebuilds the same record", async (test) => {
    const home = await copyHome(version, test);
    const { sessions, list } = await readExpected(version);
    const journal = await openSqliteJournal({ file: path.join(home, "journal.db") });
    const record = await openRecord({ file: path.join(home, "rebuilt.db") });
    const problems: unknown[] = [];
    const recorder = startRecorder({ journal, record, onError: (problem) => problems.push(problem) });
    test.onTestFinished(async () => {
      await recorder.stop();
      await record.close();
      await journal.close();
    });
    await recorder.caughtUp();
    expect(problems).toEqual([]);
    expect(await record.reader.sessions({ limit: 100 })).toMatchObject(list);
    for (const { replayed, shown } of Object.values(sessions)) {
      expect(await record.reader.session(replayed.session)).toMatchObject(detailOf(shown));
    }
  });

  it("has only SQL names that this version still has", async (test) => {
    const home = await copyHome(version, test);
    const before = sqlNamesOf(path.join(home, "troupe.db"));
    const record = await openRecord({ file: path.join(home, "troupe.db") });
    await record.close();
    expect(before.length).toBeGreaterThan(100);
    expect(sqlNamesOf(path.join(home, "troupe.db"))).toEqual(expect.arrayContaining(before));

    await mkdir(path.join(home, "new"));
    const file = path.join(home, "new", "troupe.db");
    await (await openRecord({ file })).close();
    expect(sqlNamesOf(file)).toEqual(expect.arrayContaining(before));
  });
});

describe("a changed recording", () => {
  it("is named by its first altered entry", async () => {
    const { session, from } = await readFixture("0.1.0", "tools");
    const changed = from.map((item) =>
      item.text.includes('"kind":"tool.finished"') ? { ...item, text: item.text.replace("list.md", "last.md") } : item,
    );
    const { same, divergence } = await replaySession({ session, from: changed });
    expect(same).toBe(false);
    expect(divergence).toMatchObject({ why: "altered", kind: "tool.finished", agent: "builder" });
  });

  it("with valid hashes is named by the first entry that differs", async () => {
    const { session, from } = await readFixture("0.1.0", "tree");
    const changed = resealed(from, (entry) =>
      entry.kind === "model.replied" && entry.reply.text === "It stands."
        ? { ...entry, reply: { ...entry.reply, text: "It leans." } }
        : entry,
    );
    expect((await replaySession({ session, from: changed })).divergence).toMatchObject({
      why: "differs",
      kind: "run.settled",
      agent: "checker",
      path: "response.summary",
      recorded: "It stands.",
      now: "It leans.",
    });
  });
});

/** The part of `troupe sessions show --json` that `RecordReader.session` returns. */
function detailOf({ session, runs, approvals }: Expected["sessions"][string]["shown"]) {
  return { session, runs, approvals };
}

/** All columns, as `table.column`. */
function sqlNamesOf(file: string): string[] {
  const database = openSqlite(file, { readOnly: true });
  const names = database
    .prepareValue<[], string>(
      `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
       WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' ORDER BY 1`,
    )
    .all();
  database.close();
  return names;
}

/** Changes entries, and computes the hash chain of each run again, so that every entry is valid. */
function resealed(feed: readonly FeedItem[], change: (entry: Entry) => EntryBody): FeedItem[] {
  const newest = new Map<string, SealedEntry>();
  return feed.map((item) => {
    if (item.kind !== "entry") return item;
    const entry = openEntry(item.text);
    const { v, session, run, index, epoch, host, at } = entry;
    const { hash: _, ...body } = change(entry) as Entry;
    const head = { v, session, run, index, epoch, host, at, prev: newest.get(run)?.hash ?? null };
    const sealed = sealEntry(head, body as EntryBody);
    newest.set(run, sealed);
    return { ...item, text: sealed.text };
  });
}

/** Adds an unknown field to every feed item, inbox item and entry, and to each object directly inside. */
function withLaterFields(feed: readonly FeedItem[]): FeedItem[] {
  const later = { aLaterField: { of: ["a later version"] } };
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const extend = (body: object): object => ({
    ...Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, isObject(value) ? { ...value, ...later } : value]),
    ),
    ...later,
  });
  const items = feed.map((item): FeedItem => {
    if (item.kind === "entry") return { ...item, ...later };
    return { ...item, ...later, text: JSON.stringify(extend(JSON.parse(item.text))) };
  });
  return resealed(items, (entry) => extend(entry) as EntryBody);
}
