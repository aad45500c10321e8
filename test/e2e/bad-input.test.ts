/** Invalid input: each is refused with the value, the fix and its exit code, and leaves the home unchanged. */
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "@troupe/core/internal";
import { openSqlite } from "@troupe/recorder/internal";
import { describe, it } from "vitest";
import { type CliResult, troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { useDaemon } from "../harness/shared-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** Parses `error:` (the problem) and `fix:` (the next step) from stderr. stdout must be empty. */
function refusal({ stdout, stderr }: CliResult): { error: string; fix: string } {
  const error = /^error: (.*)$/m.exec(stderr)?.[1] ?? "";
  const fix = /^fix: {3}(.*)$/m.exec(stderr)?.[1] ?? "";
  if (stdout !== "" || !error || !fix) throw new Error(`this is not a refusal:\n${stdout}${stderr}`);
  return { error, fix };
}

/** Named by the command line as it would be typed. */
function titled<T extends { args: string[] }>(row: T): T & { title: string } {
  const words = row.args.map((word) => (/^[\w./-]+$/.test(word) ? word : JSON.stringify(word)));
  return { ...row, title: ["troupe", ...words].join(" ") };
}

describe.concurrent("arguments", () => {
  it.for(
    [
      { args: ["up", "--port", "abc"], names: '--port "abc"', fix: "troupe up --port 4711" },
      { args: ["up", "--port", "99999"], names: '--port "99999"', fix: "troupe up --port 4711" },
      { args: ["up", "--host", "0.0.0.0"], names: '--host "0.0.0.0"', fix: "troupe up --host 127.0.0.1" },
      { args: ["up", "--prot", "1"], names: "'--prot'", fix: "troupe up --help" },
      { args: ["run", "x", "--timeout", "soon"], names: '--timeout "soon"', fix: 'troupe run "…" --timeout 5m' },
      { args: ["run", "x", "--timeout", "-1"], names: '--timeout "-1"', fix: 'troupe run "…" --timeout 5m' },
      { args: ["run", ""], names: 'the task ""', fix: 'troupe run "what to do"' },
      { args: ["run", " \n"], names: 'the task " \\n"', fix: 'troupe run "what to do"' },
      { args: ["run"], names: "'task'", fix: "troupe run --help" },
      { args: ["run", "not", "quoted"], names: "not, quoted", fix: 'troupe run "not quoted"' },
      { args: ["run", "x", "--json", "--stream-json"], names: "--stream-json", fix: "troupe run --help" },
      { args: ["run", "x", "--workspace", "./nowhere"], names: "--workspace ./nowhere", fix: "mkdir -p ./nowhere" },
      { args: ["nats", "purge", "--older-than", "36x"], names: '"36x"', fix: "troupe nats purge --older-than 36h" },
      { args: ["run", "x", "--agent", "no body"], names: '"no body"', fix: "troupe agents ls" },
      { args: ["rum", "x"], names: "'rum'", fix: "troupe --help" },
      { args: ["sessions", "ls", "--limit", "many"], names: '--limit "many"', fix: "troupe sessions ls --limit 20" },
      { args: ["agents", "show", "nobody"], names: '"nobody"', fix: "troupe agents ls" },
      { args: ["agents", "show", "codr"], names: '"codr"; available: ', fix: "did you mean coder?" },
      {
        args: ["run", "x", "--agent", "co.der"],
        names: '"co.der" is not a valid agent id',
        fix: "did you mean coder?",
      },
      { args: ["agents", "validate", "nowhere"], names: '"nowhere"', fix: "troupe agents validate .claude/agents" },
    ].map(titled),
  )("$title: ends with 2", async ({ args, names, fix }, { expect, onTestFinished }) => {
    const home = await tempFolder("usage", { onTestFinished });
    const asked = args.includes("--json") ? "json" : "text";
    // No such command gets so far as to host a run.
    const result = await troupe(args, { home, ownProcess: false });
    expect(result.code).toBe(2);
    const output = asked === "text" ? refusal(result) : errorIn(result.stdout);
    expect("error" in output ? output.error : output.message).toContain(names);
    expect(output.fix).toBe(fix);
    expect(await readdir(home)).toEqual([]);
  });

  const daemon = useDaemon("known");
  it.for(
    [
      { args: ["run", "x", "--agent", "nobody"], names: '"nobody"', fix: "troupe agents ls" },
      { args: ["run", "x", "--agent", "codr"], names: '"codr"; available: ', fix: "did you mean coder?" },
      { args: ["run", "x", "--scenario", "nothing"], names: '"nothing"', fix: /^use a known name, or the path/ },
      { args: ["cancel", "0123"], names: '"0123"', fix: "troupe sessions ls" },
      { args: ["sessions", "show", "0123"], names: '"0123"', fix: "troupe sessions ls" },
    ].map(titled),
  )("$title: ends with 2, with a daemon and without", async (wrong, { expect, onTestFinished }) => {
    const home = await tempFolder("unknown", { onTestFinished });
    const alone = await troupe(wrong.args, { home, ownProcess: false });
    const attached = await troupe(wrong.args, { home: daemon().home, ownProcess: false });
    for (const result of [alone, attached]) {
      expect(result.code).toBe(2);
      expect(refusal(result).error).toContain(wrong.names);
      expect(refusal(result).fix).toMatch(wrong.fix);
    }
    expect((await daemon().client.sessions({ limit: 1 })).sessions).toEqual([]);
  });
});

function errorIn(stdout: string): ApiError["error"] {
  return ApiError.parse(JSON.parse(stdout)).error;
}

it.concurrent("a budget that is too small for one turn with tools ends with 2, and begins no session", async ({
  expect,
  onTestFinished,
}) => {
  const home = await tempFolder("budget", { onTestFinished });
  const args = ["run", "x", "--agent", "coder", "--model", "scripted/demo", "--max-tokens", "500"];
  const result = await troupe(args, { home });
  expect(result.code).toBe(2);
  const { error, fix } = refusal(result);
  expect(error).toContain("the token budget of 500 tokens is too small: coder needs at least ");
  expect(fix).toMatch(/^troupe run "…" --max-tokens \d{4,} \(more if further turns follow\)$/);
  expect(await readdir(home)).not.toContain("workspaces");
});

it.concurrent("up with an agent that does not exist ends with 2, and suggests a name", async ({
  expect,
  onTestFinished,
}) => {
  const home = await tempFolder("up-agents", { onTestFinished });
  const result = await troupe(["up", "--port", "0", "--agents", "main,codr"], { home });
  expect(result.code).toBe(2);
  expect(refusal(result).error).toContain('the agent "codr" does not exist; available: coder');
  expect(refusal(result).fix).toBe("did you mean coder?");
});

it.concurrent("a recording as the model ends with 3, and begins no session", async ({ expect, onTestFinished }) => {
  const home = await tempFolder("replay-model", { onTestFinished });
  const result = await troupe(["run", "x", "--model", "replay/abc"], { home });
  expect(result.code).toBe(3);
  expect(refusal(result).error).toContain('"replay/abc" names a recording, which answers no new session');
  expect(refusal(result).fix).toMatch(/^troupe sessions replay abc/);
});

describe.concurrent("files", () => {
  it("a malformed scenario: exit 3, with the file and the line", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("scenario", { onTestFinished });
    const scenario = path.join(home, "bad.yaml");
    await writeFile(scenario, "name: bad\ndescription: x\nagents:\n  main:\n    - steps:\n        - txt: hi\n");
    const asFlag = await troupe(["run", "x", "--scenario", "./bad.yaml"], { home });
    const asModel = await troupe(["up", "--no-open"], { home, env: { TROUPE_MODEL: "scripted/./bad.yaml" } });
    for (const result of [asFlag, asModel]) {
      expect(result.code).toBe(3);
      expect(refusal(result).error).toContain(scenario);
      expect(refusal(result).error).toContain('line 6: agents.main.0.steps.0: Unrecognized key: "txt"');
      expect(refusal(result).fix).toBe("correct line 6 of bad.yaml");
    }
  });

  it("malformed agents: reported with their lines, while all others still work", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("agents", { onTestFinished });
    const folder = path.join(home, ".troupe", "agents");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "mute.md"), "---\nname: mute\n---\nYou say nothing.\n");
    await writeFile(path.join(folder, "odd.md"), "---\nname: odd\ndescription: Odd\ntols: [read]\n---\nYou are odd.\n");
    const mute = `${folder}/mute.md:2:1`;
    const odd = `${folder}/odd.md:4:1`;

    const list = await troupe(["agents", "ls"], { home });
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^odd +project/m);
    expect(list.stdout).not.toMatch(/^mute/m);
    expect(list.stderr).toContain(`${mute}: error`);
    expect(list.stderr).toContain(`${odd}: warning "tols"`);

    const all = await troupe(["agents", "validate", ".troupe/agents"], { home });
    expect(all.code).toBe(3);
    expect(all.stdout).toContain(`${mute}: error`);
    expect(all.stdout).toContain(`${odd}: warning`);
    expect(all.stderr).toMatch(/^✗ not valid: 1 usable agent, 1 error, 1 warning$/m);
    const one = await troupe(["agents", "validate", ".troupe/agents/odd.md", "--json"], { home });
    expect(one.code).toBe(0);
    expect(JSON.parse(one.stdout)).toMatchObject({ valid: true, problems: [{ line: 4, code: "unknown-key" }] });

    const scenario = await writeScenario(home, saying("all the same"));
    const command = ["run", "x", "--workspace", ".", "--scenario", scenario];
    expect(await troupe(command, { home })).toMatchObject({ code: 0, stdout: "all the same\n" });
    const broken = await troupe([...command, "--agent", "mute"], { home });
    expect(broken.code).toBe(3);
    expect(refusal(broken).error).toContain(`the agent "mute" cannot be used: ${folder}/mute.md:2`);
    expect(refusal(broken).fix).toBe(`troupe agents validate ${folder}/mute.md`);
  });
});

/** A home that has seen one session. */
async function usedHome(test: Parameters<typeof tempFolder>[1]): Promise<string> {
  const home = await tempFolder("used", test);
  const scenario = await writeScenario(home, saying("y"));
  const { code } = await troupe(["run", "x", "--scenario", scenario], { home, ownProcess: false });
  if (code !== 0) throw new Error("the first session failed");
  return home;
}

describe.concurrent("a database", () => {
  it.for(["journal.db", "troupe.db"])(
    "%s of a newer version: exit 3, and not a byte of it changes",
    async (name, { expect, onTestFinished }) => {
      const home = await usedHome({ onTestFinished });
      const file = path.join(home, name);
      const database = openSqlite(file);
      database.pragma("user_version = 99");
      database.close();
      const before = await readFile(file);
      for (const command of [
        ["up", "--no-open", "--port", "0"],
        ["run", "x"],
      ]) {
        const result = await troupe(command, { home, ownProcess: false });
        expect(result.code).toBe(3);
        expect(refusal(result).error).toMatch(
          new RegExp(`${name} has version 99, but this troupe supports only versions up to`),
        );
      }
      expect((await readFile(file)).equals(before)).toBe(true);
      const doctor = await troupe(["doctor", "--json"], { home });
      expect(doctor.code).toBe(1);
      const check = name === "journal.db" ? "journal" : "record";
      expect(JSON.parse(doctor.stdout).checks).toContainEqual(expect.objectContaining({ name: check, status: "fail" }));
    },
  );

  it("a damaged journal.db: exit 3, no data is deleted, and recorded sessions can still be read", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await usedHome({ onTestFinished });
    const file = path.join(home, "journal.db");
    const damaged = await readFile(file);
    damaged.fill(0xab, 100, 9_000);
    await writeFile(file, damaged);
    for (const command of [
      ["up", "--no-open", "--port", "0"],
      ["run", "x"],
    ]) {
      const result = await troupe(command, { home, ownProcess: false });
      expect(result.code).toBe(3);
      expect(refusal(result).error).toContain(`${file} is damaged`);
      expect(refusal(result).fix).toContain(`mv ${home} ${home}.damaged`);
    }
    expect((await readFile(file)).equals(damaged)).toBe(true);
    const sessions = await troupe(["sessions", "ls", "--json"], { home });
    expect(JSON.parse(sessions.stdout)).toMatchObject([{ status: "completed", summary: "y" }]);
  });
});

describe.concurrent("a home", () => {
  const commands = [
    ["up", "--no-open", "--port", "0"],
    ["run", "x"],
    ["sessions", "ls"],
  ];

  it("that is a file: exit 3, and the file stays unchanged", async ({ expect, onTestFinished }) => {
    const home = path.join(await tempFolder("file", { onTestFinished }), "home");
    await writeFile(home, "precious");
    for (const command of commands) {
      const result = await troupe(command, { home, cwd: path.dirname(home) });
      expect(result.code).toBe(3);
      expect(refusal(result)).toEqual({
        error: `the home ${home} is not a folder`,
        fix: "export TROUPE_HOME=<a folder that you can write>",
      });
    }
    expect(await readFile(home, "utf8")).toBe("precious");
  });

  it("that cannot be created: exit 3, with the reason", async ({ expect, onTestFinished }) => {
    const folder = await tempFolder("unwritable", { onTestFinished });
    await writeFile(path.join(folder, "file"), "");
    const home = path.join(folder, "file", "home");
    for (const command of commands.slice(0, 2)) {
      const result = await troupe(command, { home, cwd: folder });
      expect(result.code).toBe(3);
      expect(refusal(result).error).toBe(`the home ${home} is not writable`);
      expect(result.stderr).toMatch(/^why: {3}ENOTDIR/m);
    }
  });

  it("that others can read: they find no readable file", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("open", test);
    await chmod(home, 0o755);
    const scenario = await writeScenario(await tempFolder("elsewhere", test), {
      main: [
        {
          steps: [
            {
              calls: [
                { tool: "write", args: { path: "secret.txt", content: "secret" } },
                { tool: "shell", args: { command: "seq 60000" } },
              ],
            },
            { text: "done" },
          ],
        },
      ],
    });
    const daemon = await startDaemonInProcess({ home, test });
    expect(await troupe(["run", "x", "--scenario", scenario], { home, cwd: "/" })).toMatchObject({ code: 0 });
    const whileRunning = await readableByOthers(home);
    const names = await readdir(home);
    await daemon.stop();
    expect(names).toEqual(expect.arrayContaining(["blobs", "journal.db", "lock.db", "logs", "owner.json", "token"]));
    expect([...whileRunning, ...(await readableByOthers(home))]).toEqual([]);
  });
});

/** Files and folders that other users can read. A folder that they cannot open protects its contents. */
async function readableByOthers(folder: string): Promise<string[]> {
  const paths = (await readdir(folder)).map((name) => path.join(folder, name));
  const found = await Promise.all(
    paths.map(async (each) => {
      const stats = await stat(each);
      if ((stats.mode & 0o077) === 0) return [];
      return [each, ...(stats.isDirectory() ? await readableByOthers(each) : [])];
    }),
  );
  return found.flat();
}

describe.concurrent("a provider without a default model", () => {
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1", OPENAI_API_KEY: "sk-very-secret-value" };

  it("makes `up` report that there is no provider, and `run` exit with 3; the demo never answers, the key is never shown", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("key", test);
    const alone = await troupe(["run", "x"], { home, env });
    const daemon = await startDaemonInProcess({ home, test, env });
    expect(daemon.ready.provider).toMatch(/^none: the provider openai is set up \(OPENAI_API_KEY\)/);
    const attached = await troupe(["run", "x"], { home, env });
    const doctor = await troupe(["doctor"], { home, env });
    for (const result of [alone, attached]) {
      expect(result.code).toBe(3);
      expect(refusal(result).error).toContain("the demo never replaces a real provider");
      expect(refusal(result).fix).toContain("export TROUPE_MODEL=openai/<model>");
    }
    expect((await daemon.client.sessions({ limit: 1 })).sessions).toEqual([]);
    await daemon.stop();
    const output = [alone, attached, doctor].map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(output + daemon.stderr() + (await allText(home))).not.toContain("very-secret");
  });

  it("set after the demo daemon was started: makes run exit with 3 as well", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("late-key", test);
    const daemon = await startDaemonInProcess({ home, test });
    const late = await troupe(["run", "x"], { home, env: { ANTHROPIC_API_KEY: "sk-ant-very-secret-value" } });
    expect(late.code).toBe(3);
    expect(refusal(late).error).toContain(`ANTHROPIC_API_KEY is set here, but the daemon with pid ${daemon.pid}`);
    expect((await daemon.client.sessions({ limit: 1 })).sessions).toEqual([]);
  });
});

/** All that lies in a folder, as text. */
async function allText(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(path.join(file.parentPath, file.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}
