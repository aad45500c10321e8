/** No text of an agent, a tool, a file or a person reaches the terminal as a control: every command that reads is run. */
import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { cleanEnv } from "../harness/clean-env.ts";
import { troupe, watchProcess } from "../harness/cli.ts";
import { cliPath } from "../harness/cli-path.ts";
import { askBeforeShell } from "../harness/home-files.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { startScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

/** Clears the screen, sets the title, makes a link, writes to the clipboard, and turns the writing direction. */
const attack =
  "\u001b[2J\u001b]0;title\u0007\u001b]8;;http://lure.test\u001b\\link\u001b]8;;\u001b\\\u001b]52;c;aGFja2Vk\u0007" +
  "\u009b31m\u0085\u0090q\u009c\b\r\u202egnp.exe\u202c\u2066isolated\u2069\u200e\u200f\u061c\u001bc";
const hostile = (place: string): string => `seen-${place} ${attack} end`;
/** A file system takes all characters but the slash. */
const hostileName = (place: string): string => hostile(place).replaceAll("/", "_").slice(0, 80);

/** All controls but tab and newline, and the characters that turn the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const helper = `---\ndescription: ${JSON.stringify(hostile("description"))}\ntools: [read]\n---\n${attack}Help.\n`;
const broken = `---\ndescription: ${JSON.stringify(hostile("broken"))}\nmodel: [${attack}\n---\n`;

const agents = {
  main: [
    {
      when: { task: "permission" },
      steps: [{ calls: [{ tool: "shell", args: { command: hostile("command") } }] }, { text: "ok" }],
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

async function startSessions(test: TestContext) {
  const daemon = await startScriptedDaemon({
    test,
    agents: structuredClone(agents) as never,
    files: {
      "policy.yaml": askBeforeShell,
      "agents/helper.md": helper,
      [`agents/${hostileName("agentfile")}.md`]: broken,
    },
  });
  const { home } = daemon;
  const work = await tempFolder("terminal-safety", test);
  const project = path.join(work, ".troupe", "teams", "odd");
  await mkdir(path.join(project, "agents"), { recursive: true });
  await writeFile(path.join(project, "team.md"), `---\ndescription: ${JSON.stringify(hostile("team"))}\n---\n`);
  const cli = (...args: string[]) => troupe(args, { home, cwd: work });
  const rows = async <Row>(...args: string[]): Promise<Row[]> => JSON.parse((await cli(...args, "--json")).stdout);
  const first = await cli("run", "--no-input", hostile("task"));
  const waitingOne = async () => {
    const listed = await rows<{ id: string; state: string }>("approvals", "ls");
    return listed.find(({ state }) => state === "waiting") ?? null;
  };
  await cli("spawn", "main", `permission ${hostile("question")}`);
  await cli("approvals", "deny", (await until(waitingOne)).id, "--reason", hostile("reason"));
  await cli("spawn", "main", `permission ${hostile("question")}`);
  const waiting = await until(waitingOne);
  const sessions = await rows<{ session: string }>("sessions", "ls");
  return { cli, home, first, waiting, session: sessions.at(-1)?.session ?? "", rows };
}

describe("a terminal", () => {
  it("gets no control of a text from any command that reads", { timeout: 240_000 }, async (test) => {
    const { expect } = test;
    const { cli, first, session, waiting, rows } = await startSessions(test);
    expect(first.stderr + first.stdout).not.toMatch(controls);
    const sessionRuns = JSON.parse((await cli("sessions", "show", session, "--json")).stdout).runs as { run: string }[];
    const run = sessionRuns[0]?.run ?? "";
    expect(await rows("approvals", "ls", "--all")).not.toEqual([]);
    const commands: [string[], string | null][] = [
      [["sessions", "ls"], "seen-task"],
      [["sessions", "show", session], "seen-"],
      [["sessions", "show", session, "--tree"], "seen-"],
      [["sessions", "show", session, "--diff"], "seen-"],
      [["sessions", "show", session, "--log"], "seen-text"],
      [["sessions", "export", session, "--format", "md"], "seen-text"],
      [["sessions", "export", session, "--format", "mermaid"], null],
      [["search", "seen"], "seen-"],
      [["costs"], null],
      [["costs", "--by", "day", "--csv"], null],
      [["stats"], null],
      [["agents", "stats"], null],
      [["ps"], null],
      [["logs"], null],
      [["approvals", "ls", "--all"], null],
      [["approvals", "show", waiting.id], "seen-command"],
      [["agents", "ls"], "seen-description"],
      [["agents", "show", "helper"], "seen-description"],
      [["teams", "ls"], null],
      [["explain", run], "seen-task"],
      [["hosts", "ls"], null],
      [["trust"], null],
      [["doctor"], null],
      [["__complete", "--", "sessions", "show", ""], null],
      [["__complete", "--", "agents", "show", ""], "helper"],
      [["agents", "show", hostile("id")], null],
      [["sessions", "show", hostile("id")], null],
    ];
    const found: string[] = [];
    for (const [args, seen] of commands) {
      const { code, stdout, stderr } = await cli(...args);
      const output = stdout + stderr;
      const name = args.slice(0, 4).join(" ");
      if (controls.test(output))
        found.push(`${name}: ${JSON.stringify(output.slice(Math.max(0, output.search(controls) - 40)).slice(0, 90))}`);
      if (seen !== null && !output.includes(seen))
        found.push(`${name}: exit ${code}, without ${seen}: ${output.slice(0, 200)}`);
    }
    expect(found).toEqual([]);
  });

  it.for([
    ["run", ["run", "--scenario", "SCENARIO", "hello"]],
    ["sessions show", ["sessions", "show", "last", "--log"]],
  ] as const)("%s ends well without standard input, behind head -1, and in one column", async ([, given], test) => {
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
    expect(closed).toMatchObject({ code: 0, stdout: expect.stringContaining("line 199") });
    for (const reader of ["head -1", "true"]) {
      // The code is that of troupe, not of its reader.
      const cut = await shell(`${command} | ${reader} > first; echo $PIPESTATUS`);
      expect([["0\n"], ["141\n"]], cut.stderr).toContainEqual([cut.stdout]);
      expect(cut.stderr).not.toMatch(/EPIPE|Error:|\n\s+at /);
    }
    const narrow = await shell(
      `script --quiet --return --command "stty cols 1 rows 5; ${command}" /dev/null < /dev/null`,
    );
    expect(narrow.code).toBe(0);
    expect(narrow.stdout.replaceAll(/\s/g, "")).toContain("line199");
  });
});
