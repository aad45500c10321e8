/** The commands about the local office, with a real home: stored data, refusals and exit codes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryAcquireHome } from "troupe/internal";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, type FakeCli, type FakeCliOptions, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

const aMail = [
  "Message-ID: <1@acme.example>",
  "From: eve@acme.example",
  "To: me@office.local",
  "Date: Mon, 2 Mar 2026 10:00:00 +0000",
  "Subject: Hi",
  "",
  "Text",
];
const officeFile = (cli: FakeCli): string => join(cli.home.path, "office", "office.db");

/** Runs a command in a terminal of its own, over the home and configuration of another one. */
async function run(first: FakeCli, args: string[], options: FakeCliOptions = {}) {
  const { home, env } = first;
  const cli = createFakeCli({ home: home.path, env, ...options });
  cli.cwd = first.cwd;
  const code = await cli.run("office", ...args);
  return { code, out: cli.out(), err: cli.err() };
}

async function seeded(): Promise<FakeCli> {
  const cli = createFakeCli();
  expect((await run(cli, ["seed"])).code).toBe(0);
  return cli;
}

describe("office seed", () => {
  test("fills an empty office and says what to try", async () => {
    const cli = createFakeCli();
    const { code, out, err } = await run(cli, ["seed", "--seed", "3"]);
    expect(code).toBe(0);
    expect(out).toMatch(/the sample company is in .*office: \d+ messages, \d+ events, \d+ contacts, \d+ channels/);
    expect(err).toContain('troupe run --team office "');
    const { user, counts, exists } = JSON.parse((await run(cli, ["status", "--json"])).out);
    expect(exists).toBe(true);
    expect(user).toEqual({ name: "Me", address: "me@office.local" });
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(2);
  });

  test("belongs to the user of the settings", async () => {
    const cli = createFakeCli();
    mkdirSync(join(String(cli.env.HOME), ".config", "troupe"), { recursive: true });
    const settings = "office: {name: Kim Adler, address: kim@lantern.example, timeZone: Asia/Tokyo}";
    writeFileSync(join(String(cli.env.HOME), ".config", "troupe", "config.yaml"), settings);
    expect((await run(cli, ["seed"])).out).toContain("you are Kim Adler <kim@lantern.example>, in Asia/Tokyo");
  });

  test("an office with data is not changed", async () => {
    const cli = await seeded();
    const before = (await run(cli, ["status", "--json"])).out;
    const { code, err } = await run(cli, ["seed"]);
    expect(code).toBe(1);
    expect(err).toMatch(/the office has data already: \d+ messages.*nothing was changed/);
    expect(err).toContain("troupe office reset");
    expect((await run(cli, ["status", "--json"])).out).toBe(before);
  });

  test("a wrong seed is named", async () => {
    const { code, err } = await run(createFakeCli(), ["seed", "--seed", "x"]);
    expect(code).toBe(2);
    expect(err).toContain('--seed "x" is not a whole number');
  });

  test("a file of another program at its place stays", async () => {
    const cli = createFakeCli();
    mkdirSync(join(cli.home.path, "office"), { recursive: true });
    writeFileSync(officeFile(cli), "something else, and not a database at all");
    const { code, err } = await run(cli, ["seed"]);
    expect(code).toBe(3);
    expect(err).toMatch(/cannot open .*office\.db/);
    expect(readFileSync(officeFile(cli), "utf8")).toContain("something else");
  });
});

describe("office import", () => {
  test("reports the read parts of each file, and the other parts with the reason", async () => {
    const cli = createFakeCli();
    mkdirSync(join(cli.cwd, "mails"));
    writeFileSync(join(cli.cwd, "good.eml"), aMail.join("\r\n"));
    writeFileSync(join(cli.cwd, "broken.ics"), "BEGIN:VCALENDAR\r\nnothing");
    writeFileSync(join(cli.cwd, "notes.docx"), "x");
    const files = ["good.eml", "none.eml", "mails", "notes.docx", "broken.ics"];
    const { code, out } = await run(cli, ["import", ...files]);
    expect(code).toBe(1);
    expect(out).toMatch(/✓ .*good\.eml {2}new: 1 message\n/);
    expect(out).toMatch(/✗ .*none\.eml {2}not read\n.*problem: none\.eml: the file does not exist/);
    expect(out).toMatch(/✗ .*mails {2}not read\n.*problem: mails: is a folder: name its files, such as mails\/\*\.eml/);
    expect(out).toMatch(/✗ .*notes\.docx {2}not read\n.*\.docx" cannot be imported: use \.eml/);
    expect(out).toMatch(/✗ .*broken\.ics {2}not read\n.*problem: /);
  });

  test("the same file again adds nothing, and JSON has the whole report", async () => {
    const cli = createFakeCli();
    writeFileSync(join(cli.cwd, "good.eml"), aMail.join("\r\n"));
    expect((await run(cli, ["import", "good.eml", "good.eml"])).code).toBe(0);
    const again = await run(cli, ["import", "good.eml", "--json"]);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.out)).toMatchObject({
      folder: join(cli.home.path, "office"),
      files: [{ file: join(cli.cwd, "good.eml"), kind: "eml", added: { messages: 0 }, known: { messages: 1 } }],
    });
    expect((await run(cli, ["import", "good.eml"])).out).toContain("new: nothing; known already: 1 message");
  });

  test("escape sequences in names and texts do not reach the terminal", async () => {
    const cli = createFakeCli();
    writeFileSync(join(cli.cwd, "\u001b[31mred.eml"), "");
    const { out } = await run(cli, ["import", "\u001b[31mred.eml", "\u001b[2Jnone.eml"]);
    expect(out).not.toContain("\u001b");
  });

  test("needs files", async () => {
    const { code, err } = await run(createFakeCli(), ["import"]);
    expect([code, err]).toEqual([2, expect.stringContaining("troupe office --help")]);
  });
});

describe("office status", () => {
  test("without an office says how to make one, and makes none", async () => {
    const cli = createFakeCli();
    const { code, err } = await run(cli, ["status"]);
    expect([code, err]).toEqual([0, expect.stringContaining("troupe office seed")]);
    expect(JSON.parse((await run(cli, ["status", "--json"])).out)).toMatchObject({ exists: false, counts: null });
    expect(existsSync(officeFile(cli))).toBe(false);
  });

  test("shows the folder, the user, the zone and the content", async () => {
    const { out } = await run(await seeded(), ["status"]);
    expect(out).toMatch(/^folder +.*office\nuser +Me <me@office\.local>\ntime zone +\S+\ncontent +\d+ messages, /);
  });
});

describe("office reset", () => {
  test("deletes nothing without a confirmation, and says how", async () => {
    const cli = await seeded();
    const { code, err } = await run(cli, ["reset"]);
    expect([code, err]).toEqual([8, expect.stringMatching(/to delete \d+ messages.*: troupe office reset --yes/)]);
    expect(existsSync(officeFile(cli))).toBe(true);
  });

  test.each([
    ["y", 0, false],
    ["n", 8, true],
  ])("asks at a terminal: %s", async (key, expected, stays) => {
    const first = await seeded();
    const cli = createFakeCli({ home: first.home.path, isTerminal: true, hasKeyboard: true });
    const running = cli.run("office", "reset");
    await cli.type(key);
    expect(await running).toBe(expected);
    expect(existsSync(officeFile(first))).toBe(stays);
  });

  test("deletes the office and leaves other files", async () => {
    const cli = await seeded();
    const other = join(cli.home.path, "office", "notes.txt");
    writeFileSync(other, "mine");
    const { code, out } = await run(cli, ["reset", "--yes", "--json"]);
    expect([code, JSON.parse(out)]).toEqual([0, { folder: join(cli.home.path, "office"), deleted: true }]);
    expect([existsSync(officeFile(cli)), existsSync(other)]).toEqual([false, true]);
    expect((await run(cli, ["seed"])).code).toBe(0);
  });

  test("refuses while another process has the office open", async () => {
    const cli = await seeded();
    const home = await tryAcquireHome(cli.home);
    await home?.announce({
      ...{ kind: "daemon", pid: process.pid, url: null, token: home.token, version: "0.1.0" },
      startedAt: new Date(0).toISOString(),
    });
    const { code, err } = await run(cli, ["reset", "--yes"]);
    await home?.release();
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/the daemon with pid \d+ uses the office; nothing was deleted/),
    ]);
    expect(existsSync(officeFile(cli))).toBe(true);
  });

  test("of no office deletes nothing", async () => {
    const { code, err } = await run(createFakeCli(), ["reset"]);
    expect([code, err]).toEqual([0, expect.stringContaining("nothing to delete")]);
  });
});
