/** Backups of whole homes, taken while a daemon works, and restored into other homes. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { openSqlite } from "@troupe/recorder/internal";
import { finishRestore, restoreFiles } from "troupe/internal";
import { describe, it, type TestContext } from "vitest";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";
import { expectReplaysSame, recordSession } from "./recorded-session.ts";

const timeout = 240_000;

describe.concurrent("a backup", { timeout }, () => {
  it("of a working daemon has all sessions, files, rules and settings, and neither token nor key", async (test) => {
    const recorded = await recordSession(test);
    const { cli, cliOf, session, home, env, at } = recorded;
    const { expect } = test;
    const key = "sk-test-0123456789abcdef0123456789abcdef";
    await writeFile(path.join(home, "policy.yaml"), "risk: {high: ask}\n");
    await mkdir(path.join(home, "agents"), { recursive: true });
    await writeFile(path.join(home, "agents", "keeper.md"), `---\ndescription: keeps ${key}\n---\nKeep.\n`);
    const daemon = await startDaemon({ home, env, test });
    await writeFile(at("note.txt"), "shared");
    await cli("sessions", "upload", session, at("note.txt"));
    const writing = daemon.client.submit({ task: "another" });
    const saved = await cli("backup", "b.backup", "--json");
    expect(saved.stderr).toBe("");
    expect(JSON.parse(saved.stdout).sessions).toBeGreaterThanOrEqual(1);
    await writing;
    const bytes = await readFile(at("b.backup"));
    expect(bytes.includes(daemon.token)).toBe(false);
    expect(bytes.includes(key)).toBe(false);
    expect((await stat(at("b.backup"))).mode & 0o077).toBe(0);
    expect(await cli("backup", "b.backup")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("exists already"),
    });
    await daemon.kill();

    const other = await tempFolder("files-restored", test);
    expect(await cliOf(other, "restore", "b.backup")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("restored"),
    });
    expect((await readdir(other)).filter((name) => name.startsWith("restor"))).toEqual([]);
    expect(await readFile(path.join(other, "policy.yaml"), "utf8")).toBe("risk: {high: ask}\n");
    expect(await cliOf(other, "record", "verify")).toMatchObject({ code: 0 });
    await expectReplaysSame({ cli: (...args) => cliOf(other, ...args) }, session, test);
    const again = await startDaemonInProcess({ home: other, env, test });
    await until(async () =>
      (await again.client.sessions({ limit: 9 })).sessions.every(({ status }) => status === "completed"),
    );
    const file = await cliOf(other, "sessions", "download", session, "note.txt", at("back.txt"));
    expect([file.code, await readFile(at("back.txt"), "utf8")]).toEqual([0, "shared"]);
    await again.stop();
  });

  it("is refused by a home that has data, which --force keeps aside", async (test) => {
    const one = await recordSession(test);
    const other = await recordSession(test, { task: "count the windows of the house" });
    const { expect } = test;
    await one.cli("backup", other.at("b.backup"));
    const refused = await other.cli("restore", "b.backup");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("has sessions already") });
    expect(await other.cli("sessions", "show", other.session)).toMatchObject({ code: 0 });
    const forced = await other.cli("restore", "b.backup", "--force", "--json");
    const { replaced } = JSON.parse(forced.stdout);
    expect(await readdir(replaced)).toEqual(expect.arrayContaining(["journal.db", "troupe.db"]));
    expect(await other.cli("sessions", "show", one.session)).toMatchObject({ code: 0 });
    expect((await other.cli("sessions", "show", other.session)).code).toBe(2);
  });

  it("is refused while a daemon runs the home", async (test) => {
    const { cli, home, env } = await recordSession(test);
    await cli("backup", "b.backup");
    const daemon = await startDaemon({ home, env, test });
    const refused = await cli("restore", "b.backup", "--force");
    test
      .expect(refused)
      .toMatchObject({ code: 1, stderr: test.expect.stringContaining("is owned by a troupe daemon") });
    await daemon.stop();
  });

  it("that was damaged or cut is refused, and the home stays empty", async (test) => {
    const { cli, cliOf, at } = await recordSession(test);
    const { expect } = test;
    await cli("backup", "b.backup");
    const bytes = await readFile(at("b.backup"));
    const other = await tempFolder("files-damaged", test);
    const restore = async (changed: Buffer): Promise<string> => {
      await writeFile(at("bad.backup"), changed);
      const { code, stderr } = await cliOf(other, "restore", "bad.backup");
      expect(code).not.toBe(0);
      expect(stderr).not.toContain("    at ");
      return stderr;
    };
    expect(await restore(bytes.subarray(0, bytes.byteLength - 4_096 * 3))).toContain("bad.backup");
    const flipped = Buffer.from(bytes);
    const place = flipped.indexOf("three doors");
    expect(place).toBeGreaterThan(0);
    flipped[place] = "T".charCodeAt(0);
    expect(await restore(flipped)).toMatch(/the backup .* is damaged: (entry \d+ of run|.* does not match its hash)/);
    expect(await restore(Buffer.from("not a backup"))).toContain("bad.backup");
    expect((await readdir(other)).filter((name) => name.endsWith(".db") && name !== "lock.db")).toEqual([]);
  });

  it.for([0, 1, 2, 3])("whose restore was killed after move %i is completed by the next owner", async (moved, test) => {
    const { expect } = test;
    const names = ["troupe.db", "rules.json", "journal.db"];
    const home = await killedRestore(test, { names, moved });
    await finishRestore(home);
    for (const name of names) expect(await readFile(path.join(home.path, name), "utf8")).toBe(`new ${name}`);
    const replaced = path.join(home.path, "replaced-1");
    expect((await readdir(replaced)).sort()).toEqual(["journal.db", "journal.db-wal", "troupe.db"]);
    expect((await readdir(home.path)).sort()).toEqual([...names, "replaced-1"].sort());
  });
});

/** A home as a killed restore leaves it: some files are moved, and the next one is only moved aside. */
async function killedRestore(test: TestContext, { names, moved }: { names: readonly string[]; moved: number }) {
  const home = { path: await tempFolder("files-killed", test) };
  const { staging, marker } = restoreFiles(home);
  const replaced = path.join(home.path, "replaced-1");
  await mkdir(staging);
  await mkdir(replaced);
  for (const name of names) await writeFile(path.join(staging, name), `new ${name}`);
  for (const name of ["troupe.db", "journal.db", "journal.db-wal"]) {
    await writeFile(path.join(home.path, name), `old ${name}`);
  }
  await writeFile(marker, JSON.stringify({ replaced, staged: names }));
  for (const [i, name] of names.slice(0, moved + 1).entries()) {
    await rename(path.join(home.path, name), path.join(replaced, name)).catch(() => {});
    if (i < moved) await rename(path.join(staging, name), path.join(home.path, name));
  }
  return home;
}

describe.concurrent("troupe record", { timeout }, () => {
  it("verify names a changed entry and a changed row, and rebuild makes the rows again", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, home } = recorded;
    const { expect } = test;
    expect(await cli("record", "verify")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("everything is intact"),
    });
    change(path.join(home, "troupe.db"), "UPDATE sessions SET summary = 'forged'");
    const differs = await cli("record", "verify", "--json");
    expect([differs.code, JSON.parse(differs.stdout)]).toMatchObject([
      1,
      { ok: false, damage: [], differing: [session] },
    ]);
    expect(await cli("record", "rebuild")).toMatchObject({ code: 0 });
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });

    change(path.join(home, "journal.db"), "UPDATE feed SET text = replace(text, 'three doors', 'seven doors')");
    const damaged = await cli("record", "verify");
    expect([damaged.code, damaged.stdout]).toEqual([
      1,
      expect.stringMatching(/damaged in the journal: entry \d+ of run/),
    ]);
    expect(await cli("record", "rebuild")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("the record was not changed"),
    });
    expect(await cli("backup", "b.backup")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("was not backed up"),
    });
    expect((await readdir(recorded.folder)).filter((name) => name.includes("backup"))).toEqual([]);
  });

  it("rebuild makes a lost record again", async (test) => {
    const { cli, session, home } = await recordSession(test);
    const before = (await cli("sessions", "show", session, "--json")).stdout;
    for (const suffix of ["", "-wal", "-shm"]) await rm(path.join(home, `troupe.db${suffix}`), { force: true });
    test.expect(await cli("record", "rebuild")).toMatchObject({ code: 0 });
    test.expect((await cli("sessions", "show", session, "--json")).stdout).toBe(before);
  });
});

function change(file: string, sql: string): void {
  const database = openSqlite(file);
  database.exec(sql);
  database.close();
}
