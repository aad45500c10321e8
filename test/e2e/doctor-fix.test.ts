/** Tests `troupe doctor --fix` on real homes: its repairs, and the files that it must not change. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, cp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openConnectionStore } from "@troupe/connectors";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon } from "../harness/daemon.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";

interface RepairRow {
  name: string;
  status: string;
  before: string;
  after: string;
  fix: string | null;
}

async function fix(home: string): Promise<RepairRow[]> {
  const { stdout } = await troupe(["doctor", "--fix", "--json"], { home, cwd: path.dirname(home) });
  return JSON.parse(stdout).repairs;
}

const worked = useShared(async (test) => {
  const home = await tempFolder("doctor-fix-worked", test);
  await work(home, test);
  return home;
});

/** A home with one finished session: a copy, because the test changes it. */
async function workedHome(test: Pick<TestContext, "onTestFinished">): Promise<string> {
  const home = await tempFolder("doctor-fix", test);
  await cp(worked(), home, { recursive: true });
  await chmod(home, 0o700);
  return home;
}

async function work(home: string, test: Pick<TestContext, "onTestFinished">): Promise<void> {
  const folder = await tempFolder("doctor-fix-scenario", test);
  const scenario = await writeScenario(folder, {
    main: [{ steps: [{ calls: [delegate("researcher", "look")] }, { text: "Done." }] }],
    researcher: [{ steps: [{ text: "Looked." }] }],
  });
  const { code, stderr } = await troupe(["run", "--scenario", scenario, "--no-input", "hello"], { home });
  if (code !== 0) throw new Error(stderr);
}

/** Content and permissions of every file of a home, without the ones that each reader of a database makes. */
async function stateOf(home: string): Promise<Record<string, string>> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names
    .filter((each) => each.isFile() && !/-(wal|shm)$/.test(each.name))
    .map((each) => path.join(each.parentPath, each.name));
  const entries = files.map(async (file) => {
    const hash = createHash("sha256")
      .update(await readFile(file))
      .digest("hex");
    return [path.relative(home, file), `${((await stat(file)).mode & 0o777).toString(8)} ${hash}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const sessionsOf = async (home: string): Promise<string[]> => {
  const { stdout } = await troupe(["sessions", "ls", "--json"], { home });
  return JSON.parse(stdout).map(({ session }: { session: string }) => session);
};

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

describe("troupe doctor", () => {
  it("names accounts that other users can read, and changes neither a file nor a mode", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await workedHome({ onTestFinished });
    const store = openConnectionStore(home);
    const [settings, createdAt] = [{ tokenExpiresAt: "2026-11-20T10:00:00.000Z" }, "2026-11-01T10:00:00.000Z"];
    await store.put(
      { id: "google", kind: "google", account: "ana@example.org", domains: ["mail"], createdAt, settings },
      {},
    );
    await chmod(path.join(home, "connections.db"), 0o644);
    await chmod(home, 0o755);
    const before = await stateOf(home);
    const { stdout } = await troupe(["doctor", "--json"], { home });
    const { checks } = JSON.parse(stdout);
    expect(checks).toContainEqual(expect.objectContaining({ name: "connection google", status: "ok" }));
    expect(checks).toContainEqual({
      ...{ name: "connections", status: "warn", fix: "troupe doctor --fix" },
      detail: `other users can use ${path.join(home, "connections.db")} (644)`,
    });
    expect(await stateOf(home)).toEqual(before);
    expect(await modeOf(home)).toBe(0o755);
  });
});

describe.concurrent("troupe doctor --fix", () => {
  it("creates a missing home for this user only", async ({ expect, onTestFinished }) => {
    const home = path.join(await tempFolder("doctor-fix", { onTestFinished }), "home");
    expect(await fix(home)).toMatchObject([{ name: "home", status: "fixed", before: `${home} does not exist` }]);
    expect(await modeOf(home)).toBe(0o700);
    expect(await fix(home)).toEqual([]);
    expect(await readdir(home)).toEqual([]);
  });

  it("closes the home, the accounts and the token to other users, and changes nothing else", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await workedHome({ onTestFinished });
    const [accounts, token] = ["connections.db", "token"].map((name) => path.join(home, name)) as [string, string];
    await writeFile(accounts, "");
    await writeFile(`${accounts}-wal`, "");
    const stored = await stateOf(home);
    for (const [file, mode] of [
      [home, 0o755],
      [accounts, 0o644],
      [`${accounts}-wal`, 0o644],
      [token, 0o644],
    ] as const)
      await chmod(file, mode);
    const { code, stdout } = await troupe(["doctor", "--fix"], { home });
    expect(code).toBe(0);
    expect(stdout).toContain(`fixed  home: other users can use ${home} (755) → 700\n`);
    expect(stdout).toContain(`fixed  connections: other users can use ${accounts} (644) → 600\n`);
    // Other users could have read it, so it must not stay valid.
    expect(stdout).toContain(`fixed  token: other users could read ${token} (644) → removed`);
    expect(await modeOf(home)).toBe(0o700);
    expect(await modeOf(`${accounts}-wal`)).toBe(0o600);
    const { token: _, ...others } = stored;
    expect(await stateOf(home)).toEqual({ ...others, "connections.db": expect.stringMatching(/^600 /) });
    expect(await fix(home)).toEqual([]);
    expect((await troupe(["doctor", "--fix"], { home })).stdout).toMatch(/^no repair is needed\n/);
  });

  it("removes the owner file of a killed daemon, and keeps that of a running one", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await tempFolder("doctor-fix", { onTestFinished });
    await chmod(home, 0o700);
    const owner = path.join(home, "owner.json");
    const first = await startDaemon({ home, test: { onTestFinished } });
    await chmod(path.join(home, "token"), 0o644);
    expect(await fix(home)).toMatchObject([
      { name: "token", status: "skipped", fix: "troupe down, then troupe doctor --fix" },
    ]);
    expect(existsSync(owner)).toBe(true);
    await chmod(path.join(home, "token"), 0o600);
    await first.kill();
    expect(existsSync(owner)).toBe(true);
    expect(await fix(home)).toMatchObject([{ name: "owner", status: "fixed", after: "removed" }]);
    expect(existsSync(owner)).toBe(false);
    expect(await fix(home)).toEqual([]);
  });

  it("removes old copies of killed commands, and no young ones", async ({ expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    const before = await stateOf(home);
    const old = ["troupe.db.rebuilt", "journal.db.rebuilt", "owner.json.4242.00c0ffee.tmp"];
    for (const name of [...old, "journal.db.verified", "notes.tmp"]) await writeFile(path.join(home, name), "x");
    const longAgo = new Date(Date.now() - 7_200_000);
    for (const name of [...old, "notes.tmp"]) await utimes(path.join(home, name), longAgo, longAgo);
    expect((await fix(home)).map(({ name, status }) => `${name} ${status}`)).toEqual(old.map(() => "leftover fixed"));
    const left = Object.keys(await stateOf(home)).filter((name) => !(name in before));
    // `record verify`, which the check of the record uses, removes its own copies.
    expect(left.filter((name) => name !== "journal.db.verified")).toEqual(["notes.tmp"]);
  });

  it.for([
    ["damaged", "is damaged", (file: string) => writeFile(file, "this is not a database, but it is long enough")],
    ["missing", "is missing", (file: string) => rm(file)],
    [
      "different",
      "differ from the journal",
      async (file: string) => {
        const database = new DatabaseSync(file);
        database.exec("UPDATE sessions SET status = 'failed'");
        database.close();
      },
    ],
  ] as const)("makes a %s record again from the journal", async ([, reason, damage], { expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    const sessions = await sessionsOf(home);
    expect(sessions).toHaveLength(1);
    const journal = (await stateOf(home))["journal.db"];
    const record = path.join(home, "troupe.db");
    for (const suffix of ["-wal", "-shm"]) await rm(record + suffix, { force: true });
    await damage(record);
    expect(await fix(home)).toMatchObject([
      {
        name: "record",
        status: "fixed",
        before: expect.stringContaining(reason),
        after: expect.stringContaining("1 session"),
      },
    ]);
    expect(await sessionsOf(home)).toEqual(sessions);
    expect((await stateOf(home))["journal.db"]).toBe(journal);
    expect(await fix(home)).toEqual([]);
  });

  it("brings a record that is behind its journal up to date", async ({ expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    const record = path.join(home, "troupe.db");
    const older = path.join(await tempFolder("doctor-fix-old", { onTestFinished }), "troupe.db");
    await copyFile(record, older);
    await work(home, { onTestFinished });
    const sessions = await sessionsOf(home);
    expect(sessions).toHaveLength(2);
    for (const suffix of ["-wal", "-shm"]) await rm(record + suffix, { force: true });
    await copyFile(older, record);
    expect(await sessionsOf(home)).toHaveLength(1);
    expect(await fix(home)).toMatchObject([{ status: "fixed", before: expect.stringMatching(/\d+ entries behind/) }]);
    expect((await sessionsOf(home)).sort()).toEqual(sessions.sort());
  });

  it("leaves the record of a damaged journal alone", async ({ expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    const [journal, record] = ["journal.db", "troupe.db"].map((name) => path.join(home, name)) as [string, string];
    const database = new DatabaseSync(journal);
    database.exec("UPDATE feed SET text = replace(text, 'hello', 'jello')");
    database.close();
    const rows = new DatabaseSync(record);
    rows.exec("UPDATE sessions SET status = 'failed'");
    rows.close();
    // The record can be all that is left of the session.
    expect(await fix(home)).toEqual([]);
    const after = new DatabaseSync(record);
    expect(after.prepare("SELECT status FROM sessions").all()).toEqual([{ status: "failed" }]);
    after.close();
  });

  it("is the only way in which doctor changes a home", async ({ expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    await chmod(path.join(home, "token"), 0o644);
    await rm(path.join(home, "troupe.db"));
    const before = await stateOf(home);
    const { stdout } = await troupe(["doctor", "--json"], { home });
    expect(JSON.parse(stdout)).not.toHaveProperty("repairs");
    expect(await stateOf(home)).toEqual(before);
  });

  it("leaves the record of a journal on a NATS server alone", async ({ expect, onTestFinished }) => {
    const home = await workedHome({ onTestFinished });
    await writeFile(path.join(home, "record.store"), "nats-troupe\n");
    await writeFile(path.join(home, "troupe.db"), "not a database");
    expect(await fix(home)).toEqual([]);
    expect(await readFile(path.join(home, "troupe.db"), "utf8")).toBe("not a database");
  });
});
