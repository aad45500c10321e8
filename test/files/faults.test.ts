/** Databases that are corrupt, locked, full, read-only or of a newer version, for real processes; and a failed sync. */
import { open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { describe, it, type TestContext } from "vitest";
import { startProgram, troupe } from "../harness/cli.ts";
import { cliPath } from "../harness/cli-path.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { casesOf } from "../harness/long.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { type RecordedHome, recordSession } from "./recorded-session.ts";
import { buildShim, describeWithShim } from "./shim.ts";

const timeout = 900_000;
/** A log of this size is moved into the record's file. */
const logBytesMax = 4 * 1024 * 1024;

interface Fault {
  /** Damages the journal of a home. */
  inject(file: string): Promise<(() => void) | undefined>;
  /** Of the error of each command. */
  says: RegExp;
}

const faults: Record<string, Fault> = {
  "with a zeroed header": {
    inject: (file) => overwrite(file, 0, Buffer.alloc(100)),
    says: /damaged|not a database|another program/,
  },
  "with a wiped page": {
    inject: async (file) => overwrite(file, 4_096, Buffer.alloc(8_192, 0xff)),
    says: /damaged|malformed/,
  },
  "of a newer version": {
    inject: async (file) => sql(file, "PRAGMA user_version = 99"),
    says: /has version 99, but this troupe supports only versions up to/,
  },
  "of another program": {
    inject: async (file) => sql(file, "PRAGMA application_id = 7"),
    says: /is the database of another program/,
  },
};

async function overwrite(file: string, at: number, bytes: Buffer): Promise<undefined> {
  await using handle = await open(file, "r+");
  await handle.write(bytes, 0, bytes.length, at);
}

function sql(file: string, text: string): undefined {
  const database = openSqlite(file);
  database.exec(text);
  database.close();
}

describe.concurrent("a journal", { timeout }, () => {
  it.for(Object.entries(faults))(
    "%s is refused by each command and by the daemon, and stays as it is",
    async ([name, fault], test) => {
      // All commands open the journal by the same function. One fault shows that each of them does.
      const isTried = (command: string) => name === "with a zeroed header" || /export|verify|rebuild/.test(command);
      const recorded = await recordSession(test);
      const { cli, session, home, root, env } = recorded;
      const { expect } = test;
      const file = path.join(home, "journal.db");
      await cli("sessions", "export", session, "--out", "s.jsonl");
      await fault.inject(file);
      const damaged = await readFile(file);
      const commands = [
        ["sessions", "export", session],
        ["sessions", "fork", session, "--at", `${root}/1`],
        ["sessions", "import", "s.jsonl"],
        ["sessions", "rm", session, "--yes"],
        ["backup", "b.backup"],
        ["record", "verify"],
        ["record", "rebuild"],
      ];
      for (const words of casesOf(commands, (each) => isTried(each.join(" ")))) {
        const { code, stdout, stderr } = await cli(...words);
        expect([code, `${stdout}${stderr}`], words.join(" ")).toEqual([
          expect.any(Number),
          expect.stringMatching(fault.says),
        ]);
        expect(code, words.join(" ")).not.toBe(0);
        expect(stderr).not.toMatch(/^ {4}at /m);
      }
      const up = await troupe(["up", "--no-open", "--port", "0"], { home, env, ownProcess: false });
      expect([up.code, up.stderr]).toEqual([3, expect.stringMatching(fault.says)]);
      expect((await readFile(file)).equals(damaged)).toBe(true);
      expect((await readdir(recorded.folder)).filter((name) => name.includes("backup"))).toEqual([]);
      expect((await readdir(home)).filter((name) => /verified|rebuilt/.test(name))).toEqual([]);
    },
  );

  it("that another process has locked is waited for, then refused", async (test) => {
    const { cli, session, home } = await recordSession(test);
    const { expect } = test;
    const lock = openSqlite(path.join(home, "journal.db"));
    lock.exec("BEGIN IMMEDIATE");
    const removed = await cli("sessions", "rm", session, "--yes");
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining("is locked by another process") });
    // Reading needs no lock.
    expect(await cli("sessions", "export", session, "--out", "s.jsonl")).toMatchObject({ code: 0 });
    expect(await cli("backup", "b.backup")).toMatchObject({ code: 0 });
    lock.exec("ROLLBACK");
    lock.close();
    expect(await cli("sessions", "rm", session, "--yes")).toMatchObject({ code: 0 });
  });
});

describe.concurrent("a small or read-only disk", { timeout }, () => {
  it("leaves no half file of an export, a backup or a restore", async (test) => {
    const recorded = await recordSession(test);
    const { expect } = test;
    const { cli, folder } = recorded;
    await cli("backup", "b.backup");
    const small = await tempFolder("files-small", test);
    const troupeOf = (home: string, ...words: string[]): string =>
      [`TROUPE_HOME='${home}'`, `'${process.execPath}' '${cliPath}'`, ...words].join(" ");
    const script = [
      `mount -t tmpfs -o size=96k tmpfs '${small}'`,
      `${troupeOf(recorded.home, "backup", `'${small}/b.backup'`)}; echo "backup $?"`,
      `dd if=/dev/zero of='${small}/ballast' bs=1k count=90 2>/dev/null`,
      `${troupeOf(recorded.home, "sessions", "export", recorded.session, "--out", `'${small}/s.jsonl'`)}; echo "export $?"`,
      `rm '${small}/ballast'`,
      `${troupeOf(`${small}/home`, "restore", `'${folder}/b.backup'`)}; echo "restore $?"`,
      `ls -A '${small}' '${small}/home'`,
      `mount -o remount,ro '${small}'`,
      `${troupeOf(recorded.home, "sessions", "export", recorded.session, "--out", `'${small}/s.jsonl'`)}; echo "read-only $?"`,
    ].join("\n");
    const { code, stdout, stderr } = await inMountNamespace(script, recorded);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/backup [13]\n/);
    expect(stdout).toContain("export 2\n");
    expect(stdout).toMatch(/restore [13]\n/);
    expect(stdout).toContain("read-only 2\n");
    expect(stdout).not.toMatch(/b\.backup|s\.jsonl|journal\.db|troupe\.db|restoring/);
    expect(stderr).toContain("no space left");
    expect(stderr).toContain("the disk is full");
    expect(stderr).toContain("EROFS");
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

/** For root and for ordinary users. */
async function inMountNamespace(script: string, { home, folder, env }: RecordedHome) {
  const flags = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  return await startProgram(["unshare", ...flags, "sh", "-c", script], { home, cwd: folder, env }).ended;
}

describeWithShim("a sync of the journal", () => {
  it("that is slow delays the storing alone; one that fails with EIO ends the daemon, and loses nothing acknowledged", {
    timeout,
  }, async (test) => {
    const recorded = await recordSession(test);
    const { home } = recorded;
    const failing = await startFailingDaemon(test, recorded);
    const before = await expectAnswersDuringSync(failing, recorded, test);
    const { daemon, fail, count } = failing;
    const { expect } = test;
    await writeFile(fail, "");
    const after = await daemon.client.submit({ task: "during the fault" }).then(
      () => "acknowledged",
      () => "refused",
    );
    const ended = await daemon.ended;
    expect(after).toBe("refused");
    expect(ended).toEqual({ code: 3, signal: null });
    expect(daemon.stderr()).toContain("cannot write");
    // It is never repeated.
    expect(await readFile(count, "utf8")).toBe(".");
    await rm(fail);

    const { cli } = recorded;
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });
    for (const session of [recorded.session, before]) {
      expect(await cli("sessions", "replay", session)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("same:"),
      });
    }
    const again = await startDaemonInProcess({ home, env: recorded.env, test });
    expect((await again.client.session(before)).session.status).toBe("completed");
    await again.stop();
  });
});

/** The daemon answers during a slow sync, and acknowledges nothing before its end. Returns the session that it accepts. */
async function expectAnswersDuringSync(
  { daemon, wait }: Awaited<ReturnType<typeof startFailingDaemon>>,
  recorded: RecordedHome,
  { expect }: TestContext,
): Promise<string> {
  // This file lets no sync begin.
  await writeFile(wait, "");
  const replies: string[] = [];
  const held = daemon.client.submit({ task: "during the sync" }).then(({ session }) => {
    replies.push(session);
    return session;
  });
  held.catch(() => {});
  for (let i = 0; i < 5; i += 1) {
    expect((await daemon.client.status()).pid).toBe(daemon.pid);
    expect((await daemon.client.session(recorded.session)).session.status).toBe("completed");
  }
  expect(replies).toEqual([]);
  await writeFile(wait, "50");
  const session = await held;
  await until(async () => (await daemon.client.session(session)).session.status === "completed");
  return session;
}

describeWithShim("a sync of the record that hangs", () => {
  it("holds up neither answers nor runs, and the record follows when it is over", { timeout }, async (test) => {
    const recorded = await recordSession(test);
    const { expect } = test;
    const { daemon, wait } = await startFailingDaemon(test, recorded, { TROUPE_SHIM_WAIT_FOR: "troupe.db" });
    const { client } = daemon;
    const journal = openSqlite(path.join(recorded.home, "journal.db"), { readOnly: true });
    test.onTestFinished(() => journal.close());
    const ends = journal.prepareValue<[string], number>("SELECT terminal FROM runs WHERE run = ?");
    // The record writes its first entry, and with it the header of its log.
    const first = await client.submit({ task: "small" });
    await until(async () => (await client.session(first.session)).session.status === "completed");
    await writeFile(wait, "");
    const log = path.join(recorded.home, "troupe.db-wal");
    const isLong = async () => (await stat(log)).size >= logBytesMax;
    const writeMore = async () => {
      const { run } = await client.submit({ task: "large ".repeat(30_000) });
      await until(() => ends.get(run) === 1);
    };
    while (!(await isLong())) await writeMore();
    const last = await client.submit({ task: "while the record waits for its disk" });
    await until(() => ends.get(last.run) === 1);
    expect((await client.status()).pid).toBe(daemon.pid);
    await rm(wait);
    await until(async () => {
      const { sessions } = await client.sessions({ limit: 1 });
      return sessions.some(({ session, status }) => session === last.session && status === "completed");
    });
    // A log that something read at that moment is moved later, as it grows.
    while (await isLong()) await writeMore();
    await daemon.stop();
    expect(await recorded.cli("record", "verify")).toMatchObject({ code: 0 });
  });
});

async function startFailingDaemon(
  test: TestContext,
  { home, env }: RecordedHome,
  more: Readonly<Record<string, string>> = {},
) {
  const folder = await tempFolder("files-shim", test);
  const [fail, count, wait] = ["fail", "count", "wait"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const shim = {
    LD_PRELOAD: buildShim(),
    TROUPE_SHIM_FOLDER: home,
    TROUPE_SHIM_FAIL: fail,
    TROUPE_SHIM_COUNT: count,
    TROUPE_SHIM_WAIT: wait,
    ...more,
  };
  return { daemon: await startDaemon({ home, env: { ...env, ...shim }, test }), fail, count, wait };
}
