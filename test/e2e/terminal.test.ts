/** Tests approvals in a real terminal with its keys, line editing and signals. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { askBeforeShell, writePolicy } from "../harness/home-files.ts";
import { readInboxFile, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf } from "../harness/ledger.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { delegate, shell } from "../harness/scripted-calls.ts";
import { questionsOf, responseOf } from "../harness/session-queries.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { describeAtTerminal, startInTerminal } from "../harness/terminal.ts";

const ctrlC = "\u0003";
const ctrlD = "\u0004";

/** A question as it stands on the screen. */
function question(who: string, command: string): RegExp {
  const choices = "y once · r for this run · a always, with these arguments · n deny";
  return new RegExp(
    `\\? ${who} asks to run shell \\(medium risk\\)\\r\\n[^?]*"command":"${command}"[^?]*${choices}\\r\\n`,
  );
}

const journalOf = (home: string) => path.join(home, "journal.db");

/** A home with a daemon, beside which a `run` costs half: for tests of the keys alone. */
const daemonOfFile = useShared(async (test) => {
  const home = await tempFolder("terminal-daemon", test);
  await writePolicy(home, askBeforeShell);
  return { home, daemon: await startDaemonInProcess({ home, test }) };
});

describeAtTerminal("a user at a terminal", () => {
  it("answers with y, r, a, and n with a reason; each is asked once, with the printed meaning", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("terminal", test);
    await writePolicy(home, askBeforeShell);
    const scenario = await writeScenario(home, {
      main: [
        {
          steps: [
            { calls: [shell("echo one")] },
            { calls: [shell("echo two")] },
            // The rest of this run needs no approval.
            { calls: [shell("echo three"), delegate("coder", "help")] },
            { text: "the coder says: {{result.1.summary}}" },
          ],
        },
      ],
      coder: [
        {
          steps: [
            { calls: [shell("echo four")] },
            // The same once more, and then another.
            { calls: [shell("echo four"), shell("echo five")] },
            { text: "{{result.0.summary}}, {{result.1.output}}" },
          ],
        },
      ],
    });
    const ledger = ledgerOf(home);
    const env = { ...ledger.env, USER: "ada" };
    const run = startInTerminal(["run", "work", "--scenario", scenario], { home, test, env });
    await run.waitForOutput(question("main", "echo one"));
    expect((await ledger.calls()).map(({ kind }) => kind)).toEqual(["model"]);
    await run.answer("y");
    await run.waitForOutput(question("main", "echo two"));
    await run.answer("r");
    await run.waitForOutput(question("main › coder", "echo four"));
    await run.answer("a");
    await run.waitForOutput(question("main › coder", "echo five"));
    await run.answer("n");
    await run.waitForOutput(/why\? \(Enter for no reason\)\r\n/);
    // The terminal's own line editing: one character is taken back.
    run.type("not todax\u007fy\r");
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect(stdout.match(/\? .* asks to run \w+ \(/g)).toHaveLength(4);
    expect(stdout.match(/✓ approved|✗ denied/g)).toEqual(["✓ approved", "✓ approved", "✓ approved", "✗ denied"]);
    expect(stdout).toMatch(/\r\nthe coder says: exit code 0, .*denied by ada: not today.*\r\n$/);

    const session = /session (\S+)/.exec(stdout)?.[1] ?? "";
    const answers = readInboxFile(journalOf(home), session).flatMap((item) =>
      item.kind === "approval.answered" ? [[item.approved, item.scope, item.reason, item.by]] : [],
    );
    expect(answers).toEqual([
      [true, "once", null, "ada"],
      [true, "run", null, "ada"],
      [true, "rule", null, "ada"],
      [false, "once", "not today", "ada"],
    ]);
    const { rules } = JSON.parse(await readFile(path.join(home, "rules.json"), "utf8"));
    expect(rules).toMatchObject([{ decision: "allow", tool: "shell", agent: "coder", args: shell("echo four").args }]);
    // One, two, three, and four twice.
    expect((await ledger.calls()).filter(({ kind }) => kind === "tool")).toHaveLength(5);
  });

  it("Ctrl-C at a question cancels the session, and the call does not run", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("terminal", test);
    await writePolicy(home, askBeforeShell);
    const scenario = await writeScenario(home, {
      main: [{ steps: [{ calls: [shell("echo one")] }, { text: "done" }] }],
    });
    const ledger = ledgerOf(home);
    const run = startInTerminal(["run", "work", "--scenario", scenario], { home, test, env: ledger.env });
    await run.waitForOutput(question("main", "echo one"));
    await run.answer(ctrlC);
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/ not answered\r\n/);
    expect(stdout).toMatch(/cancelling session/);
    expect((await ledger.calls()).map(({ kind }) => kind)).toEqual(["model"]);
    const [entries] = readJournalFile(journalOf(home)).values();
    expect(entries?.at(-1)?.entry).toMatchObject({ kind: "run.settled", response: { status: "cancelled" } });
    expect((await troupe(["approvals", "ls", "--all"], { home })).stdout).toMatch(/⊘ withdrawn/);
  });

  it("Ctrl-C while an agent works cancels the session", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const { home } = daemonOfFile();
    const scenario = await writeScenario(await tempFolder("terminal", test), saying("never said", 600_000));
    const run = startInTerminal(["run", "work", "--scenario", scenario], { home, test });
    await run.waitForOutput(/● main: work/);
    run.type(ctrlC);
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/cancelling session \S+; press Ctrl-C again to exit at once/);
    expect(stdout).not.toContain("never said");
  });

  it("a session continues after an answer from elsewhere, and typed keys answer nothing", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const { home, daemon } = daemonOfFile();
    const scenario = await writeScenario(await tempFolder("terminal", test), {
      main: [{ steps: [{ calls: [shell("echo one")], latencyMs: 500 }, { text: "{{result.0.summary}}" }] }],
    });
    const run = startInTerminal(["run", "work", "--scenario", scenario], { home, test });
    await run.waitForOutput(/● main: work/);
    run.type("nnn");
    await run.waitForOutput(question("main", "echo one"));
    const [, session = ""] = await run.waitForOutput(/session (\S+)/);
    const [asked] = await questionsOf(daemon, session, 1);
    expect((await daemon.client.answer(asked?.id ?? "", { approved: true, by: "bob" })).outcome).toBe("answered");
    expect(await responseOf(daemon, session)).toMatchObject({ details: "exit code 0" });
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("no answer is needed anymore");
  });

  it("types the task of `run -`, ends it with Ctrl-D, and then answers a question", async ({
    expect,
    onTestFinished,
  }) => {
    const { home } = daemonOfFile();
    const scenario = await writeScenario(await tempFolder("terminal", { onTestFinished }), {
      main: [{ steps: [{ calls: [shell("echo one")] }, { text: "{{task}}: {{result.0.summary}}" }] }],
    });
    const run = startInTerminal(["run", "-", "--scenario", scenario], { home, test: { onTestFinished } });
    await run.waitForOutput(/type the task; end it with Ctrl-D/);
    run.type("say what\nyou did\n");
    run.type(ctrlD);
    await run.waitForOutput(question("main", "echo one"));
    await run.answer("y");
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);
    expect(stdout).toContain("you did: exit code 0");
  });

  it("leaves `run -` with Ctrl-C before a session starts", async ({ expect, onTestFinished }) => {
    const { home } = daemonOfFile();
    const run = startInTerminal(["run", "-"], { home, test: { onTestFinished } });
    await run.waitForOutput(/type the task/);
    run.type(`half a task${ctrlC}`);
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain("session");
  });
});
