/** A project's files are shown before the user trusts them, and the decision covers exactly the shown files. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, type FakeCli, type FakeCliOptions, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { createFakeComposition } from "../testing/fake-composition.ts";

afterEach(removeTemporaryFolders);

const collected = {
  ".troupe/config.yaml": "model: ollama/qwen3\nroles: {coder: ollama/other}",
  ".troupe/tools/dice.mjs": "export default []",
  ".claude/settings.json": '{"hooks":{}}',
};

function cliIn(cwd: string | null, options: FakeCliOptions = {}): FakeCli {
  const cli = createFakeCli(options);
  if (cwd !== null) cli.cwd = cwd;
  return cli;
}

/** A folder that brings these files. */
function projectWith(files: Record<string, string> = collected): { cwd: string; home: string } {
  const { cwd, home } = createFakeCli();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  return { cwd, home: home.path };
}

const listed = async (cwd: string, home: string) => {
  const cli = cliIn(cwd, { home });
  await cli.run("trust", "ls", "--json");
  return JSON.parse(cli.out());
};

describe("troupe trust", () => {
  test("shows each file and its effect, and trusts nothing", async () => {
    const { cwd, home } = projectWith();
    const cli = cliIn(cwd, { home });
    expect(await cli.run("trust")).toBe(8);
    expect(cli.out()).toContain("is not trusted; these files are ignored");
    expect(cli.out()).toMatch(/\.troupe\/tools\/dice\.mjs +tools +[0-9a-f]{12} +code that runs as you/);
    expect(cli.out()).toMatch(/\.claude\/settings\.json +settings +[0-9a-f]{12} +not used by troupe/);
    expect(cli.err()).toContain("--yes");
    expect(await listed(cwd, home)).toEqual([]);
  });

  test("--yes accepts the folder as it is, until a file changes", async () => {
    const { cwd, home } = projectWith();
    expect(await cliIn(cwd, { home }).run("trust", "--yes")).toBe(0);
    expect(await listed(cwd, home)).toMatchObject([{ standing: "trusted", decision: "accepted" }]);
    expect(await cliIn(cwd, { home }).run("trust")).toBe(0);
    writeFileSync(join(cwd, ".claude", "settings.json"), '{"hooks":{ }}');
    const cli = cliIn(cwd, { home });
    expect(await cli.run("trust", "--json")).toBe(8);
    expect(JSON.parse(cli.out())).toMatchObject({
      standing: "changed",
      changes: ["changed .claude/settings.json"],
      files: [{ used: false }, { kind: "configuration", used: true }, { kind: "tools", used: true }],
    });
  });

  test.for([
    ["y", "accepted"],
    ["n", "declined"],
    ["\r", "declined"],
  ])("asks at a terminal: %j is %s", async ([key, decision]) => {
    const { cwd, home } = projectWith();
    const cli = cliIn(cwd, { home, isTerminal: true, hasKeyboard: true });
    const ran = cli.run("trust");
    await cli.type(key ?? "");
    expect(await ran).toBe(0);
    const rows = stripVTControlCharacters(cli.out() + cli.err())
      .split("\n")
      .filter((line) => line.startsWith("  ."));
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(80);
    expect(await listed(cwd, home)).toMatchObject([{ decision }]);
  });

  test("rm makes troupe ask again", async () => {
    const { cwd, home } = projectWith();
    await cliIn(cwd, { home }).run("trust", "--yes");
    expect(await cliIn(cwd, { home }).run("trust", "rm", ".")).toBe(0);
    expect(await cliIn(cwd, { home }).run("trust")).toBe(8);
    const again = cliIn(cwd, { home });
    expect(await again.run("trust", "rm", ".")).toBe(2);
    expect(again.err()).toContain("troupe trust ls");
  });

  test("shows agent and team files, and accepts them with --yes until one changes", async () => {
    const { cwd, home } = projectWith({ ".troupe/agents/main.md": "x", ".troupe/teams/coding/team.yaml": "y" });
    const first = cliIn(cwd, { home });
    expect(await first.run("trust")).toBe(0);
    expect(first.out()).toMatch(/\.troupe\/teams\/coding\/team\.yaml +teams +[0-9a-f]{12} +counts already/);
    expect(first.err()).toContain("not replacing others; to trust it as it is now");
    expect(await listed(cwd, home)).toEqual([]);
    expect(await cliIn(cwd, { home }).run("trust", "--yes")).toBe(0);
    const second = cliIn(cwd, { home });
    expect(await second.run("trust", "--json")).toBe(0);
    expect(JSON.parse(second.out())).toMatchObject({
      standing: "nothing",
      definitions: [{ kind: "agents" }, { kind: "teams", path: ".troupe/teams/coding/team.yaml" }],
    });
    const third = cliIn(cwd, { home });
    await third.run("trust");
    expect(third.err()).toBe("");
    writeFileSync(join(cwd, ".troupe/agents/main.md"), "z");
    const fourth = cliIn(cwd, { home });
    expect(await fourth.run("trust")).toBe(0);
    expect(fourth.err()).toContain("not replacing others");
  });

  test("of a folder without such files has nothing to ask", async () => {
    const { cwd, home } = projectWith({});
    const cli = cliIn(cwd, { home });
    expect(await cli.run("trust")).toBe(0);
    expect(cli.out()).toContain("has no files that need trust");
  });

  test("of a folder that cannot be trusted prints a fix: 3", async () => {
    const { cwd, home } = projectWith();
    rmSync(join(cwd, ".troupe", "config.yaml"));
    symlinkSync("/etc/hostname", join(cwd, ".troupe", "config.yaml"));
    const cli = cliIn(cwd, { home });
    expect(await cli.run("trust", "--yes")).toBe(3);
    expect(cli.err()).toMatch(/leads out of the folder.*\nfix: +put the file itself in its place/);
    expect(await cliIn(cwd, { home }).run("trust", "nowhere")).toBe(2);
  });
});

describe("an untrusted project is ignored", () => {
  test("and config list reports that for each value", async () => {
    const { cwd, home } = projectWith();
    const cli = cliIn(cwd, { home });
    expect(await cli.run("config", "list", "--show-origin")).toBe(0);
    expect(cli.out()).toMatch(/model +scripted\/demo +default/);
    expect(cli.out()).toMatch(/model +ollama\/qwen3 +ignored: not trusted \(.*config\.yaml:1\)/);
    expect(cli.out()).toMatch(/roles\.coder +ollama\/other +ignored: not trusted/);
    expect(cli.err()).toContain("is ignored: the project is not trusted. Run: troupe trust");
    await cliIn(cwd, { home }).run("trust", "--yes");
    const trusted = cliIn(cwd, { home });
    await trusted.run("config", "list", "--show-origin");
    expect(trusted.out()).toMatch(/model +ollama\/qwen3 +project/);
    expect(trusted.out()).not.toContain("not in force");
  });

  test("and an invalid file does not block a command", async () => {
    const { cwd, home } = projectWith({ ".troupe/config.yaml": "modle: [" });
    const cli = cliIn(cwd, { home });
    expect(await cli.run("config", "list", "--show-origin")).toBe(0);
    await cliIn(cwd, { home }).run("trust", "--yes");
    expect(await cliIn(cwd, { home }).run("config", "list")).toBe(3);
  });

  test("doctor has a row for it", async () => {
    const { cwd, home } = projectWith();
    const rowOf = async () => {
      const cli = cliIn(cwd, { home });
      await cli.run("doctor", "--json");
      return JSON.parse(cli.out()).checks.find(({ name }: { name: string }) => name === "trust");
    };
    expect(await rowOf()).toMatchObject({
      status: "warn",
      detail: expect.stringContaining("3 files"),
      fix: "troupe trust",
    });
    await cliIn(cwd, { home }).run("trust", "--yes");
    expect(await rowOf()).toMatchObject({ status: "ok" });
  });
});

describe("troupe run", () => {
  const runIn = (cwd: string, home: string, options: FakeCliOptions = {}) => {
    const composition = createFakeComposition();
    composition.demo = true;
    return cliIn(cwd, { home, composition, ...options });
  };
  const modelOf = (cli: FakeCli) => cli.composition.started[0]?.submissions[0]?.model;

  test("prints one line that the files are ignored, if the user cannot be asked", async () => {
    const { cwd, home } = projectWith();
    const cli = runIn(cwd, home);
    expect(await cli.run("run", "answer x")).toBe(0);
    const lines = cli
      .err()
      .split("\n")
      .filter((line) => line.includes("not trusted"));
    expect(lines).toEqual([expect.stringContaining("this project has .troupe/config.yaml, .troupe/tools/dice.mjs")]);
    expect(modelOf(cli)).toBeUndefined();
  });

  test("asks once at a terminal, and the accepted files apply at once", async () => {
    const { cwd, home } = projectWith();
    const cli = runIn(cwd, home, { isTerminal: true, hasKeyboard: true });
    const ran = cli.run("run", "answer x");
    await cli.type("y");
    expect(await ran).toBe(0);
    expect(modelOf(cli)).toBe("ollama/qwen3");
    const again = runIn(cwd, home, { isTerminal: true, hasKeyboard: true });
    expect(await again.run("run", "answer x")).toBe(0);
    expect(again.err()).not.toContain("this project has");
  });

  test("does not ask again after a no, nor under --no-input or --json", async () => {
    const { cwd, home } = projectWith();
    for (const flag of ["--no-input", "--json"]) {
      const quiet = runIn(cwd, home, { isTerminal: true, hasKeyboard: true });
      expect(await quiet.run("run", "answer x", flag)).toBe(0);
    }
    const cli = runIn(cwd, home, { isTerminal: true, hasKeyboard: true });
    const ran = cli.run("run", "answer x");
    await cli.type("n");
    expect(await ran).toBe(0);
    expect(modelOf(cli)).toBeUndefined();
    const again = runIn(cwd, home, { isTerminal: true, hasKeyboard: true });
    expect(await again.run("run", "answer x")).toBe(0);
    expect(again.err()).toContain("ignored, because the project is not trusted");
  });
});
