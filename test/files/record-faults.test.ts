/** A damaged, lost, locked or newer record, for real processes: the errors of commands, and a rebuild from the journal. */
import { cp, open, readFile, rm, truncate } from "node:fs/promises";
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { describe, expect, it, type TestContext } from "vitest";
import { startProgram, troupe } from "../harness/cli.ts";
import { cliPath } from "../harness/cli-path.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { casesOf, isLong } from "../harness/long.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { type RecordedHome, recordSession } from "./recorded-session.ts";

const timeout = 900_000;
const rebuild = "troupe record rebuild";

interface Fault {
  inject(file: string): Promise<void> | void;
  /** Of each command that reads the damaged part. */
  says: RegExp;
  fix: string;
  /** Whether a daemon sees it at its start. */
  isSeenAtStart: boolean;
}

const damaged = { says: /troupe\.db is damaged: /, fix: rebuild };
const faults: Record<string, Fault> = {
  "with a wiped header": { ...damaged, isSeenAtStart: true, inject: (file) => wipe(file, 0, 100) },
  "with a wiped page of rows": { ...damaged, isSeenAtStart: false, inject: (file) => wipeRoot(file, "sessions") },
  "with a wiped page of an index": {
    ...damaged,
    isSeenAtStart: false,
    inject: (file) => wipeRoot(file, "idx_sessions_turn"),
  },
  "that is cut to its half": {
    ...damaged,
    isSeenAtStart: true,
    inject: async (file) => truncate(file, 4_096 * Math.floor((await readFile(file)).length / 8_192)),
  },
  "of a newer version": {
    inject: (file) => sql(file, "PRAGMA user_version = 99"),
    says: /troupe\.db has version 99, but this troupe supports only versions up to/,
    fix: "npm install",
    isSeenAtStart: true,
  },
};

async function wipe(file: string, at: number, length: number): Promise<void> {
  await using handle = await open(file, "r+");
  await handle.write(Buffer.alloc(length, 0xff), 0, length, at);
}

async function wipeRoot(file: string, name: string): Promise<void> {
  const database = openSqlite(file, { readOnly: true });
  const page = database.prepareValue<[string], number>("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
  const bytes = Number(database.pragma("page_size"));
  database.close();
  await wipe(file, (Number(page) - 1) * bytes, bytes);
}

function sql(file: string, text: string): void {
  const database = openSqlite(file);
  database.exec(text);
  database.close();
}

function filesOf({ home }: Pick<RecordedHome, "home">): { record: string; journal: string } {
  return { record: path.join(home, "troupe.db"), journal: path.join(home, "journal.db") };
}

async function sessionsOf({ cli }: Pick<RecordedHome, "cli">): Promise<unknown> {
  const { code, stdout, stderr } = await cli("sessions", "ls", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** Starts a daemon on the home, has it write to its record, and returns how it ended. */
async function writeWithDaemon({ home, env }: RecordedHome, test: TestContext) {
  const daemon = await startDaemon({ home, env, test });
  const accepted = await daemon.client.submit({ task: "look again" }).then(
    ({ session }) => session,
    () => null,
  );
  return { ...(await daemon.ended), stderr: daemon.stderr(), accepted };
}

/** A daemon finds a damaged page of an index like one of rows: when it writes there. */
const startsDaemon = (fault: string): boolean => isLong || fault !== "with a wiped page of an index";

/** Returns the session that the daemon accepted before it saw the fault. */
async function expectDaemonRefuses(recorded: RecordedHome, fault: Fault, test: TestContext): Promise<string | null> {
  const { home, env } = recorded;
  const ended = fault.isSeenAtStart
    ? await troupe(["up", "--no-open", "--port", "0"], { home, env, ownProcess: false })
    : await writeWithDaemon(recorded, test);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(fault.says) });
  expect(ended.stderr).toContain(`fix:   ${fault.fix}`);
  return "accepted" in ended ? ended.accepted : null;
}

describe.concurrent("a record", { timeout }, () => {
  it.for(Object.entries(faults))(
    "%s is refused with its next step, the journal stays as it is, and makes it again",
    async ([name, fault], test) => {
      const recorded = await recordSession(test);
      const { cli } = recorded;
      const { record, journal } = filesOf(recorded);
      const before = { sessions: await sessionsOf(recorded), journal: await readFile(journal) };
      await fault.inject(record);
      const bytes = await readFile(record);
      const refused = { code: 3, stdout: "", stderr: expect.stringMatching(fault.says) };
      for (const words of [["sessions", "ls"], ["record", "verify"], ...(fault.isSeenAtStart ? [["costs"]] : [])]) {
        const result = await cli(...words);
        expect(result, words.join(" ")).toMatchObject(refused);
        expect(result.stderr, words.join(" ")).toContain(`fix:   ${fault.fix}`);
      }
      expect((await readFile(record)).equals(bytes)).toBe(true);
      const accepted = startsDaemon(name) ? await expectDaemonRefuses(recorded, fault, test) : null;
      if (fault.isSeenAtStart) expect((await readFile(journal)).equals(before.journal)).toBe(true);
      expect(await cli("record", "rebuild")).toMatchObject({ code: 0, stderr: "" });
      expect(await cli("record", "verify")).toMatchObject({ code: 0 });
      const after = JSON.stringify(await sessionsOf(recorded));
      expect(after).toContain(recorded.session);
      if (fault.isSeenAtStart) expect(after).toBe(JSON.stringify(before.sessions));
      if (accepted !== null) expect(after).toContain(accepted);
    },
  );

  it.for(["cut to nothing", "deleted"])("that is %s does not look like a home without sessions", async (how, test) => {
    const recorded = await recordSession(test);
    const { cli, home, env } = recorded;
    const { record } = filesOf(recorded);
    const before = await sessionsOf(recorded);
    if (how === "deleted") await rm(record);
    else await truncate(record, 0);
    for (const words of [["sessions", "ls"], ["search", "doors"], ["costs"]]) {
      expect(await cli(...words), words.join(" ")).toMatchObject({
        code: 3,
        stdout: "",
        stderr: expect.stringContaining(rebuild),
      });
    }
    // A start reads the journal from its beginning.
    const daemon = await startDaemonInProcess({ home, env, test });
    expect((await daemon.client.session(recorded.session)).session.status).toBe("completed");
    await daemon.stop();
    expect(await sessionsOf(recorded)).toEqual(before);
  });

  it("whose log is cut reads the missing entries again", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, home } = recorded;
    const { record } = filesOf(recorded);
    await withLogs(recorded, async () => void (await cli("run", "--json", "look once more")));
    const before = await countSessions(home);
    expect(before).toBe(2);
    await truncate(`${record}-wal`, 4_096 * 2);
    expect(await countSessions(home)).toBe(1);
    const daemon = await startDaemonInProcess({ home, env: recorded.env, test });
    await until(async () => (await daemon.client.sessions({ limit: 5 })).sessions.length === 2);
    expect((await daemon.client.session(session)).session.status).toBe("completed");
    await daemon.stop();
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });
  });

  it("that another process has locked delays nothing but itself, and loses nothing", async (test) => {
    const recorded = await recordSession(test);
    const { home, env, cli } = recorded;
    const { record } = filesOf(recorded);
    const daemon = await startDaemonInProcess({ home, env, test });
    const lock = openSqlite(record);
    lock.exec("BEGIN IMMEDIATE");
    const { session, run } = await daemon.client.submit({ task: "while it is locked" });
    const journal = openSqlite(filesOf(recorded).journal, { readOnly: true });
    const ends = journal.prepareValue<[string], number>("SELECT terminal FROM runs WHERE run = ?");
    // The run settles in the journal, and reads are answered from the old rows.
    await until(() => ends.get(run) === 1);
    expect((await daemon.client.status()).pid).toBe(daemon.pid);
    expect((await daemon.client.sessions({ limit: 5 })).sessions.map((each) => each.session)).toEqual([
      recorded.session,
    ]);
    journal.close();
    lock.exec("ROLLBACK");
    lock.close();
    await until(async () => {
      const { sessions } = await daemon.client.sessions({ limit: 5 });
      return sessions.some((each) => each.session === session && each.status === "completed");
    });
    await daemon.stop();
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });
  });
});

/** Runs a command while both files stay open, so that their logs stay beside them as after a kill. */
async function withLogs({ home }: Pick<RecordedHome, "home">, act: () => Promise<void>): Promise<void> {
  const held = Object.values(filesOf({ home })).map((file) => openSqlite(file, { readOnly: true }));
  for (const database of held) database.prepare("SELECT count(*) FROM sqlite_schema").get();
  try {
    await act();
  } finally {
    for (const database of held) database.close();
  }
}

/** Reads a copy, because the last connection that closes would move the log. */
async function countSessions(home: string): Promise<number> {
  const file = path.join(home, "copy.db");
  for (const part of ["", "-wal"]) await cp(path.join(home, `troupe.db${part}`), file + part);
  const database = openSqlite(file);
  try {
    return database.prepareValue<[], number>("SELECT count(*) FROM sessions").get() ?? 0;
  } finally {
    database.close();
    for (const part of ["", "-wal", "-shm"]) await rm(file + part, { force: true });
  }
}

describe.concurrent("a journal", { timeout }, () => {
  it("with a wiped page of its index ends the daemon, keeps every acknowledged entry, and leaves the record alone", async (test) => {
    const recorded = await recordSession(test);
    const { journal } = filesOf(recorded);
    const before = await sessionsOf(recorded);
    await wipeRoot(journal, "feed_by_run");
    const ended = await writeWithDaemon(recorded, test);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/journal\.db is damaged: /) });
    expect(ended.stderr).toContain("troupe restore FILE");
    expect(JSON.stringify(await sessionsOf(recorded))).toContain(JSON.stringify(before).slice(1, -1));
    expect(await recorded.cli("record", "verify")).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/journal\.db is damaged: /),
    });
  });
});

describe.concurrent("a read-only or full disk", { timeout }, () => {
  it("stops a start and a run with the file that cannot be written, and keeps both files", async (test) => {
    const recorded = await recordSession(test);
    const { home } = recorded;
    const before = await Promise.all(Object.values(filesOf(recorded)).map((file) => readFile(file)));
    const { code, stdout, stderr } = await inMountNamespace(readOnlyScript(recorded), recorded);
    expect(code, stderr).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => / (run|up) /.test(line))).toEqual(
      casesOf(readOnlyStarts, isTypicalStart).map(({ part, what }) => `${part} ${what} 3`),
    );
    expect(lines).toContain("journal.db ls 0");
    expect(stderr).toContain(`the home ${home} is not writable`);
    expect(stderr).toContain(`cannot write ${path.join(home, "journal.db")}: `);
    expect(stderr).toContain(`cannot write ${path.join(home, "troupe.db")}: `);
    expect(stderr).not.toMatch(/^ {4}at /m);
    const after = await Promise.all(Object.values(filesOf(recorded)).map((file) => readFile(file)));
    expect(after.map((bytes, i) => bytes.equals(before[i] ?? Buffer.alloc(0)))).toEqual([true, true]);
  });

  it("that is full refuses a request, and a start continues when it has space again", async (test) => {
    const recorded = await recordSession(test);
    const small = await tempFolder("files-full", test);
    const troupeHere = troupeOf(`${small}/home`);
    const script = [
      `mount -t tmpfs -o size=24m tmpfs '${small}'`,
      `cp -r '${recorded.home}' '${small}/home'`,
      `rm -f '${small}/home/disk-reserve'`,
      `dd if=/dev/zero of='${small}/ballast' bs=64k 2>/dev/null`,
      `dd if=/dev/zero of='${small}/ballast' bs=1 seek=$(stat -c %s '${small}/ballast') 2>/dev/null`,
      `${troupeHere} run --json again; echo "full $?"`,
      `rm '${small}/ballast'`,
      `${troupeHere} run --json again; echo "space $?"`,
      `${troupeHere} record verify; echo "verified $?"`,
      `${troupeHere} sessions ls --json`,
    ].join("\n");
    const { code, stdout, stderr } = await inMountNamespace(script, recorded);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^full 3$/m);
    expect(stdout).toMatch(/no space left/);
    expect(stdout).toMatch(/^space 0$/m);
    expect(stdout).toMatch(/^verified 0$/m);
    expect(stdout).toContain(recorded.session);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

function troupeOf(home: string): string {
  return `TROUPE_HOME='${home}' '${process.execPath}' '${cliPath}'`;
}

/** Parts of a home that cannot be written, and the command that starts with them. */
const readOnlyStarts = ["folder", "journal.db", "troupe.db"].flatMap((part) =>
  ["run", "up"].map((what) => ({ part, what })),
);

/** Both commands start the same process of a home. */
function isTypicalStart({ part, what }: (typeof readOnlyStarts)[number]): boolean {
  return (what === "up") === (part === "journal.db");
}

/** Runs each command while a part of the home cannot be written. */
function readOnlyScript({ home }: RecordedHome): string {
  const commands: Record<string, string> = { ls: "sessions ls", run: "run again", up: "up --no-open --port 0" };
  const starts = Map.groupBy(casesOf(readOnlyStarts, isTypicalStart), ({ part }) => part);
  return [...starts]
    .flatMap(([part, each]) => {
      const file = part === "folder" ? home : path.join(home, part);
      // Reading needs no right to write to the journal.
      const whats = [...(part === "journal.db" ? ["ls"] : []), ...each.map(({ what }) => what)];
      return [
        `mount --bind '${file}' '${file}' && mount -o remount,ro,bind '${file}'`,
        ...whats.map((what) => `${troupeOf(home)} ${commands[what]} >/dev/null; echo "${part} ${what} $?"`),
        `umount '${file}'`,
      ];
    })
    .join("\n");
}

/** For root and for ordinary users. */
async function inMountNamespace(script: string, { home, folder, env }: RecordedHome) {
  const flags = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  return await startProgram(["unshare", ...flags, "sh", "-c", script], { home, cwd: folder, env }).ended;
}

describe.concurrent("a lost journal", { timeout }, () => {
  it.for(["cut to nothing", "without its log"])(
    "%s is refused by a start, and its record is never replaced by less",
    async (how, test) => {
      const recorded = await recordSession(test);
      const { cli, home, env } = recorded;
      const { record, journal } = filesOf(recorded);
      if (how === "without its log") {
        await withLogs(recorded, async () => void (await cli("run", "--json", "look once more")));
        await rm(`${journal}-wal`);
        await rm(`${journal}-shm`, { force: true });
      } else {
        await truncate(journal, 0);
        expect(await cli("record", "verify")).toMatchObject({
          code: 3,
          stderr: expect.stringContaining("journal.db is damaged: it is empty"),
        });
      }
      const before = await sessionsOf(recorded);
      const bytes = await readFile(record);
      const lost = { code: 3, stderr: expect.stringContaining("made from another journal") };
      const up = await troupe(["up", "--no-open", "--port", "0"], { home, env, ownProcess: false });
      expect(up).toMatchObject(lost);
      const rebuilt = await cli("record", "rebuild");
      expect(rebuilt).toMatchObject(lost);
      expect(rebuilt.stderr).toContain("troupe restore FILE");
      expect(await sessionsOf(recorded)).toEqual(before);
      if (how !== "without its log") expect((await readFile(record)).equals(bytes)).toBe(true);
    },
  );
});
