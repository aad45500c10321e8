/**
 * No text of an agent, a tool, a file, a host or a person reaches a terminal as a control: every command that shows such
 * texts is run at a pseudo-terminal, and its raw bytes are searched.
 */
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { createSubjects, silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsBusOn, openNatsLink } from "@troupe/nats";
import { createAnnouncer } from "@troupe/runtime";
import { it, type TestContext } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { troupe, watchProcess } from "../harness/cli.ts";
import { cliPath } from "../harness/cli-path.ts";
import { askBeforeShell } from "../harness/home-files.ts";
import { casesOf } from "../harness/long.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { findNatsServer, startNatsServer } from "../harness/nats-server.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { questionsOf, responseOf } from "../harness/session-queries.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { describeAtTerminal, startInTerminal } from "../harness/terminal.ts";

/** Clears the screen, sets the title, makes a link, writes to the clipboard, and turns the writing direction. */
const attack =
  "\u001b[2J\u001b]0;title\u0007\u001b]8;;http://lure.test\u001b\\link\u001b]8;;\u001b\\\u001b]52;c;aGFja2Vk\u0007" +
  "\u001b[6m\u001bPq\u001b\\\u001b_apc\u001b\\\u009b31m\u0085\u0090q\u009c\b\r\u202egnp.exe\u202c\u2066isolated\u2069\u200e\u200f\u061c\u001bc";
const hostile = (place: string): string => `seen-${place} ${attack} end`;
/** A file system takes all characters but the slash. */
const hostileName = (place: string): string => hostile(place).replaceAll("/", "_").slice(0, 80);

/** All controls but tab and newline, and the characters that turn the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** The sequences of troupe itself: colours, and the cursor back over the lines of the live tree. The attack has none of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test removes control characters
const own = /\u001b\[(?:[0-5]|7|8|9|2\d|3\d|4\d|9\d)m|\u001b\[\d+A|\u001b\[0J|\r\n/g;

/** The control of a content in the bytes of a terminal, with the text around it. */
function controlIn(bytes: string): string | null {
  const text = bytes.replaceAll(own, "\n");
  const at = text.search(controls);
  return at < 0 ? null : JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
}

const helper = `---\ndescription: ${JSON.stringify(hostile("description"))}\ntools: [read]\n---\n${attack}Help.\n`;
const broken = `---\ndescription: ${JSON.stringify(hostile("broken"))}\nmodel: [${attack}\n---\n`;

/** Its output and the name of its file are hostile too. */
const hostileCommand = `echo '${hostile("command")}'; touch '${hostileName("file")}'`;

const agents = {
  main: [
    {
      when: { task: "permission" },
      steps: [{ calls: [{ tool: "shell", args: { command: hostileCommand } }] }, { text: "ok" }],
    },
    {
      steps: [
        {
          text: hostile("text"),
          calls: [
            { tool: "write", args: { path: hostileName("file"), content: hostile("content") } },
            { tool: "read", args: { path: hostile("argument") } },
            { tool: hostile("tool"), args: { [hostile("key")]: hostile("value") } },
            delegate("coder", hostile("subtask")),
          ],
        },
        { text: hostile("answer") },
      ],
    },
  ],
  coder: [
    { steps: [{ text: hostile("error"), error: { type: "model", message: hostile("message"), recoverable: false } }] },
  ],
} as const;

/** Sessions of the scripted model are demos, which costs and totals leave out. */
const paidAgents = {
  main: [{ steps: [{ text: hostile("thought"), calls: [delegate("coder", hostile("branch"))] }, { text: "done" }] }],
  coder: [{ steps: [{ text: hostile("child") }] }],
} as const;

async function startSessions(test: Pick<TestContext, "onTestFinished">) {
  const models = await startModelServer({ scenario: { agents: structuredClone(paidAgents) as never } });
  test.onTestFinished(() => models.close());
  const daemon = await startScriptedDaemon({
    test,
    env: { ANTHROPIC_API_KEY: "sk-ant-any", ANTHROPIC_BASE_URL: models.anthropicUrl },
    agents: structuredClone(agents) as never,
    files: {
      "policy.yaml": askBeforeShell,
      "agents/helper.md": helper,
      [`agents/${hostileName("agentfile")}.md`]: broken,
    },
  });
  const { home, client } = daemon;
  const work = await tempFolder("terminal-safety", test);
  const team = path.join(work, ".troupe", "teams", "odd");
  await mkdir(team, { recursive: true });
  const described = `description: ${JSON.stringify(hostile("team"))}\n`;
  await writeFile(path.join(team, "team.yaml"), `${described}entry: lead\n`);
  await writeFile(path.join(team, "lead.md"), `---\n${described}---\n${attack}Lead.\n`);
  await mkdir(path.join(work, ".troupe", "teams", hostileName("folder")));
  const step = { id: "a", title: hostile("title"), task: hostile("step"), agent: "coder", after: [] };
  await writeFile(path.join(work, "odd-plan.yaml"), JSON.stringify({ goal: hostile("goal"), steps: [step] }));
  const cli = (...args: string[]) => troupe(args, { home, cwd: work });
  const rows = async <Row>(...args: string[]): Promise<Row[]> => JSON.parse((await cli(...args, "--json")).stdout);
  const first = await cli("run", "--no-input", hostile("task"));
  const ask = async (): Promise<{ session: string; id: string }> => {
    const { stdout } = await cli("spawn", "main", `permission ${hostile("question")}`);
    const [row] = await questionsOf({ client }, stdout.trim(), 1);
    return { session: stdout.trim(), id: row?.id ?? "" };
  };
  // The first session asks before it writes its file.
  const started = await rows<{ session: string }>("sessions", "ls");
  const session = started[0]?.session ?? "";
  const [write] = await questionsOf({ client }, session, 1);
  await cli("approvals", "deny", write?.id ?? "", "--reason", hostile("reason"));
  await responseOf({ client }, session);
  await cli("run", "--model", "anthropic/claude-sonnet-5", hostile("paid"));
  const { session: changed, id } = await ask();
  await cli("approvals", "approve", id);
  await responseOf({ client }, changed);
  const waiting = await ask();
  return { cli, home, work, first, waiting, changed, session };
}

/** Each command that shows texts of others, and a text that shows that the attack was near. */
function readingCommands(
  known: Record<"session" | "changed" | "run" | "approval", string>,
): [string[], string | null][] {
  const { session, changed, run, approval } = known;
  return [
    [["sessions", "ls"], "seen-task"],
    [["sessions", "show", session], "seen-"],
    [["sessions", "show", session, "--tree"], "seen-"],
    [["sessions", "show", changed, "--diff"], "seen-file"],
    [["sessions", "show", session, "--log"], "seen-text"],
    [["sessions", "export", session, "--format", "md"], "seen-text"],
    [["sessions", "export", session, "--format", "mermaid"], null],
    [["sessions", "diff", session, "last"], "seen-"],
    [["sessions", "replay", session], null],
    [["sessions", "files", session], null],
    [["undo", changed, "--dry-run"], "seen-file"],
    [["search", "seen"], "seen-"],
    [["costs"], "main"],
    [["costs", "--by", "day", "--csv"], null],
    [["stats"], "seen-branch"],
    [["agents", "stats"], "main"],
    [["ps"], "seen-"],
    [["logs"], null],
    [["approvals", "ls", "--all"], "seen-command"],
    [["approvals", "show", approval], "seen-command"],
    [["agents", "ls"], "seen-description"],
    [["agents", "show", "helper"], "seen-description"],
    [["agents", "validate"], null],
    [["teams", "ls"], "seen-team"],
    [["teams", "show", "odd"], "seen-team"],
    [["teams", "validate"], null],
    [["explain", run], "seen-task"],
    [["hosts", "ls"], null],
    [["trust"], null],
    [["trust", "ls"], null],
    [["rules", "ls"], null],
    [["config", "list"], null],
    [["doctor"], null],
    [["__complete", "--", "sessions", "show", ""], null],
    [["__complete", "--", "agents", "show", ""], "helper"],
    [["agents", "show", hostile("id")], "seen-id"],
    [["sessions", "show", hostile("id")], "seen-id"],
    [["teams", "show", hostile("id")], "seen-id"],
    [["run", "hello", "--workspace", hostile("folder")], "seen-folder"],
    [["plan", "run", "odd-plan.yaml", "--yes"], "seen-goal"],
    // Errors repeat what the user, or a script with texts of others, wrote.
    [["plan", "run", hostileName("plan")], "seen-plan"],
    [["sessions", "import", hostileName("import")], "seen-import"],
    [["sessions", "upload", session, hostileName("upload")], "seen-upload"],
    [["sessions", "download", session, hostile("download")], "seen-download"],
    [["sessions", "fork", session, "--at", hostile("point")], "seen-point"],
    [["restore", hostileName("backup")], "seen-backup"],
    [["trust", hostileName("project")], "seen-project"],
    [["agents", "validate", hostileName("checked")], "seen-checked"],
    [["agents", "new", hostile("new")], "seen-new"],
    [["agents", "set", hostile("set"), "model", "haiku"], "seen-set"],
    [["teams", "use", hostile("used")], "seen-used"],
    [["teams", "import", hostileName("settings")], "seen-settings"],
    [["models", "test", hostile("model")], "seen-model"],
    [["run", "hello", "--model", hostile("wanted")], "seen-wanted"],
    [["run", "hello", "--agent", hostile("agent")], "seen-agent"],
    [["config", "get", hostile("setting")], "seen-setting"],
    [["office", "import", hostileName("mails")], "seen-mails"],
    [["connections", "test", hostile("account")], "seen-account"],
    [["webhooks", "add", hostile("hook")], null],
    [["costs", "--since", hostile("since")], "seen-since"],
    [["logs", "--level", hostile("level")], "seen-level"],
    [[hostile("verb")], "seen-verb"],
  ];
}

/** Runs the commands at one terminal. Returns the bytes that each of them wrote there. */
async function atTerminal(
  commands: readonly string[][],
  { home, work, columns, test }: { home: string; work: string; columns: number; test: TestContext },
): Promise<{ code: number; bytes: string }[]> {
  const file = path.join(home, `commands-${columns}.json`);
  await writeFile(file, JSON.stringify(commands));
  const program = [process.execPath, path.join(import.meta.dirname, "../harness/terminal-batch.ts")];
  const env = { NO_COLOR: "", FORCE_COLOR: "" };
  const running = startInTerminal([file], { home, cwd: work, env, test, program, columns });
  const { stdout } = await running.ended;
  return stdout
    .split(/(?<==== ended with \d+)\r\n/)
    .slice(0, -1)
    .map((part) => {
      const [bytes = "", code = ""] = part.split(/\r\n=== ended with (?=\d+$)/);
      return { code: Number(code), bytes };
    });
}

describeAtTerminal("a terminal", () => {
  const sessions = useShared(startSessions);

  it("gets no control of a text from any command that reads, also in one column", {
    timeout: 240_000,
  }, async (test) => {
    const { expect } = test;
    const { cli, home, work, first, session, changed, waiting } = sessions();
    expect(first.stderr + first.stdout).not.toMatch(controls);
    const sessionRuns = JSON.parse((await cli("sessions", "show", session, "--json")).stdout).runs as { run: string }[];
    const commands = readingCommands({ session, changed, run: sessionRuns[0]?.run ?? "", approval: waiting.id });
    const words = commands.map(([args]) => args);
    const firstError = commands.findIndex(([args]) => args.includes(hostile("id")));
    const wide = await atTerminal(words, { home, work, columns: 400, test });
    // Errors are not laid out in columns.
    const laidOut = casesOf(words, (_, i) => commands[i]?.[1] !== null && i < firstError);
    const narrow = await atTerminal(laidOut, { home, work, columns: 1, test });
    const found = commands.flatMap(([args, seen], i) => {
      const name = args.slice(0, 4).join(" ").slice(0, 60);
      const one = wide[i];
      const at = laidOut.indexOf(args);
      const other = at < 0 ? one : narrow[at];
      if (!one || !other) return [`${name}: did not end`];
      const problems = [controlIn(one.bytes), controlIn(other.bytes)].filter((problem) => problem !== null);
      if (seen !== null && !one.bytes.includes(seen)) problems.push(`without ${seen}: ${one.bytes.slice(0, 300)}`);
      if (one.code !== other.code) problems.push(`exit code ${one.code}, and ${other.code} in one column`);
      return problems.map((problem) => `${name}: ${problem}`);
    });
    expect(found).toEqual([]);
    expect(wide.some(({ bytes }) => bytes.includes("\u001b["))).toBe(true);
  });

  it("shows the live tree and asks its question without a control of a text", async (test) => {
    const { expect } = test;
    const { home, work } = sessions();
    const env = { NO_COLOR: "" };
    const answerAt = async (args: string[], key: string, columns = 100) => {
      const running = startInTerminal(args, { home, cwd: work, env, test, columns });
      await running.waitForOutput(/y.{0,9} once/);
      await running.answer(key);
      return await running.ended;
    };
    const asked = await answerAt(["run", `permission ${hostile("live")}`], "y");
    const plain = await answerAt(["run", hostile("task")], "y", 1);
    const watched = await answerAt(["approvals", "watch"], "\u0003");
    for (const { stdout } of [asked, plain, watched]) expect(controlIn(stdout)).toBeNull();
    expect(asked.stdout).toContain("seen-command");
    expect(asked.stdout).toContain("seen-live");
    expect(asked.stdout).toContain("\u001b[0J");
    expect(plain.stdout.replaceAll(/\s/g, "")).toContain("seen-");
    expect(watched.stdout).toContain("seen-command");
    expect([asked.code, plain.code]).toEqual([0, 0]);
  });

  it.skipIf(findNatsServer() === null)("gets no control of the version of a host", async (test) => {
    const { expect } = test;
    const server = await startNatsServer();
    test.onTestFinished(server.stop);
    const link = await openNatsLink({ servers: server.url });
    test.onTestFinished(() => link.close());
    const announcer = createAnnouncer({
      ...{ bus: createNatsBusOn(link), subjects: createSubjects("troupe"), clock: systemClock() },
      ...{ logger: silentLogger, agents: () => [], load: () => ({ runs: 2, busy: 1, draining: false }) },
      facts: {
        ...{ host: "worker-a", role: "worker", version: hostile("version").slice(0, 128), pid: 7, place: "box" },
        ...{ capacity: 4, beatMs: 2_000, startedAt: new Date().toISOString() },
      },
      onDrain: () => {},
    });
    await announcer.start();
    test.onTestFinished(announcer.stop);
    const home = await tempFolder("terminal-hosts", test);
    const args = ["hosts", "ls", "--nats", server.url];
    const [shown] = await atTerminal([args], { home, work: home, columns: 300, test });
    expect([shown?.code, controlIn(shown?.bytes ?? "")]).toEqual([0, null]);
    expect(shown?.bytes).toContain("seen-version");
  });

  it.for(
    casesOf(
      [
        ["run", ["run", "--scenario", "SCENARIO", "hello"], "line 199"],
        ["sessions show", ["sessions", "show", "last", "--log"], "line 199"],
        ["search", ["search", "line"], "line"],
        ["agents ls", ["agents", "ls"], "reviewer"],
        ["teams show", ["teams", "show", "coding"], "reviewer"],
        ["sessions ls", ["sessions", "ls"], "hello"],
        ["explain", ["explain", "last"], "shell"],
        ["config list", ["config", "list"], "model"],
        ["costs", ["costs"], ""],
        ["stats", ["stats"], ""],
        ["approvals ls", ["approvals", "ls"], ""],
        ["ps", ["ps"], ""],
      ] as const,
      (_, i) => i < 2,
    ),
  )("%s ends well without standard input, behind head -1, and in one column", async ([, given, last], test) => {
    const { expect } = test;
    const home = await tempFolder("terminal-ends", test);
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i} ${"x".repeat(40)}`).join("\n");
    const scenario = await writeScenario(home, saying(lines));
    await troupe(["run", "--scenario", scenario, "hello"], { home });
    const words = [process.execPath, cliPath, ...given].map((word) => (word === "SCENARIO" ? scenario : word));
    const command = words.map((word) => `'${word}'`).join(" ");
    const shell = (script: string) =>
      watchProcess(spawn("bash", ["-c", script], { cwd: home, env: cleanEnv(home), stdio: ["ignore", "pipe", "pipe"] }))
        .ended;
    const closed = await shell(`${command} <&-`);
    expect(closed).toMatchObject({ code: 0, stdout: expect.stringContaining(last) });
    // A reader that reads nothing closes the pipe sooner, before the first line.
    for (const reader of casesOf(["head -1", "true"], (_, i) => i === 0 || given[0] === "sessions")) {
      // The code is that of troupe, not of its reader.
      const cut = await shell(`${command} | ${reader} > first; echo $PIPESTATUS`);
      expect([["0\n"], ["141\n"]], cut.stderr).toContainEqual([cut.stdout]);
      expect(cut.stderr).not.toMatch(/EPIPE|Error:|\n\s+at /);
    }
    const narrow = await shell(
      `script --quiet --return --command "stty cols 1 rows 5; ${command}" /dev/null < /dev/null`,
    );
    expect(narrow.code).toBe(0);
    expect(narrow.stdout.replaceAll(/\s/g, "")).toContain(last.length > 4 ? last.replace(" ", "") : "");
  });
});
