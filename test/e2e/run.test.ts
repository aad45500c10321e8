/** Tests `troupe run` as a process: the answer and its destination, the inputs, and the end of a failed run. */
import { mkdir, readdir, readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { decodeText, RecordChange } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { startProgram, startTroupe, troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { cliPath } from "../harness/cli-path.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

/** main delegates to coder, which writes a file; main answers with the coder's answer. */
const delegating = {
  main: [
    {
      steps: [
        { text: "Asking.", calls: [{ tool: "delegate", args: { agent: "coder", task: "write it" } }] },
        { text: "The coder says: {{result.0.summary}}" },
      ],
    },
  ],
  coder: [
    {
      steps: [
        { calls: [{ tool: "write", args: { path: "made.txt", content: "made" } }] },
        { text: "Written.\n\nWith details." },
      ],
    },
  ],
};

const lines = (text: string): string[] => text.split("\n").filter(Boolean);

describe.concurrent("an answer", () => {
  it("is alone on stdout, and the same from a process of its own as through a daemon", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("answer", test);
    const scenario = await writeScenario(home, delegating);
    const command = ["run", "make it", "--scenario", scenario];
    const alone = await troupe(command, { home });
    const daemon = await startDaemonInProcess({ home, test });
    const attached = await troupe(command, { home });
    for (const { code, stdout } of [alone, attached]) {
      expect(code).toBe(0);
      expect(stdout).toBe("The coder says: Written.\n");
    }
    expect((await daemon.client.sessions({ limit: 10 })).sessions).toHaveLength(2);
    const hosts = [...readJournalFile(path.join(home, "journal.db")).values()].map(([first]) => first?.entry.host);
    expect(new Set(hosts.map((host) => host?.split("-")[0]))).toEqual(new Set(["run", "daemon"]));
  });

  it("comes with progress on stderr, with each file once, under the agent that wrote it", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await tempFolder("progress", { onTestFinished });
    const scenario = await writeScenario(home, delegating);
    const { stderr } = await troupe(["run", "make it", "--scenario", scenario], { home, ownProcess: false });
    const story = lines(stderr).map((line) => line.replace(/^ *\d+\.\ds +/, "").replace(/ in [\d.]+ m?s/, ""));
    expect(story.slice(0, 2)).toEqual([
      "demo: scripted, offline; no model was called, $0",
      expect.stringMatching(/^session [0-9a-f-]{36} {2}in /),
    ]);
    expect(story.slice(2, -1)).toEqual(
      expect.arrayContaining([
        "● main: make it",
        "● main → coder: write it",
        "✎ coder changed made.txt",
        "✓ coder completed: Written.",
        "✓ main completed: The coder says: Written.",
      ]),
    );
    expect(story.filter((line) => line.includes("✎"))).toHaveLength(1);
    expect(story.at(-1)).toMatch(/^✓ completed · 2 runs · \d+ tokens · \$0$/);
  });

  it("with --json is one line that is a response", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("json", { onTestFinished });
    const scenario = await writeScenario(home, delegating);
    const { code, stdout } = await troupe(["run", "make it", "--json", "--scenario", scenario], {
      home,
      ownProcess: false,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\{.*\}\n$/);
    const response = decodeText(RunResponse, stdout, "stdout");
    expect(response).toMatchObject({
      agent: "main",
      request: "make it",
      status: "completed",
      success: true,
      details: "The coder says: Written.",
      filesCreated: ["made.txt"],
      metrics: { iterations: 2, subtree: { runs: 2, iterations: 4 } },
    });
  });

  it("with --stream-json is lines from the session to the result", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("stream", { onTestFinished });
    const scenario = await writeScenario(home, delegating);
    const { code, stdout } = await troupe(["run", "make it", "--stream-json", "--scenario", scenario], {
      home,
      ownProcess: false,
    });
    expect(code).toBe(0);
    const events = lines(stdout).map((line) => JSON.parse(line));
    const [session] = events;
    expect(session).toMatchObject({ event: "session", demo: true });
    const result = events.at(-1);
    expect(result.event).toBe("result");
    expect(RunResponse.parse(result.response)).toMatchObject({ sessionId: session.session, status: "completed" });
    const changes = events.filter(({ event }) => event === "change").map(({ change }) => RecordChange.parse(change));
    expect(changes.flatMap(({ runs }) => runs.map(({ agent }) => agent))).toEqual(
      expect.arrayContaining(["main", "coder"]),
    );
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(["session", "change", "live", "result"]));
  });

  it("arrives at each of two concurrent runs on one home without a daemon", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("parallel", { onTestFinished });
    const scenario = await writeScenario(home, saying("heard: {{task}}", 300));
    const tasks = ["one", "two", "three"];
    const results = await Promise.all(tasks.map((task) => troupe(["run", task, "--scenario", scenario], { home })));
    expect(results.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      tasks.map((task) => ({ code: 0, stdout: `heard: ${task}\n` })),
    );
  });
});

describe.concurrent("the input of a task", () => {
  it("includes piped text, as context of the recorded request", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("piped", { onTestFinished });
    const scenario = await writeScenario(home, saying("read"));
    const input = "first line\nsecond line: ünïcode\n";
    const { code } = await troupe(["run", "read it", "--scenario", scenario], { home, input });
    expect(code).toBe(0);
    const [entries] = [...readJournalFile(path.join(home, "journal.db")).values()];
    const opened = entries?.[0]?.entry;
    if (opened?.kind !== "run.opened") throw new Error("the run did not open");
    expect(opened.request).toMatchObject({ task: "read it", context: input });
  });

  it("is the whole of standard input for `run -`, without context", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("run-stdin", { onTestFinished });
    const scenario = await writeScenario(home, saying("read"));
    const { code } = await troupe(["run", "-", "--scenario", scenario], {
      home,
      input: "\nfirst line\nsecond: ünïcode\n",
      ownProcess: false,
    });
    expect(code).toBe(0);
    const [entries] = [...readJournalFile(path.join(home, "journal.db")).values()];
    const opened = entries?.[0]?.entry;
    if (opened?.kind !== "run.opened") throw new Error("the run did not open");
    expect(opened.request).toMatchObject({ task: "first line\nsecond: ünïcode", context: null });
  });

  it.for([
    ["an empty pipe", { input: "" }],
    ["white space", { input: " \n", ownProcess: false }],
    ["/dev/null", {}],
  ] as const)("is a usage error for `run -` with %s", async ([, given], { expect, onTestFinished }) => {
    const home = await tempFolder("run-stdin", { onTestFinished });
    const { code, stderr } = await troupe(["run", "-"], { home, ...given });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: `run -` reads the task from standard input, which is empty\nfix: {3}.+ \| troupe run -/,
    );
  });

  it("is a usage error for `run -` with a closed standard input", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("run-stdin", { onTestFinished });
    const shell = ["/bin/sh", "-c", '"$0" "$@" <&-', process.execPath, cliPath, "run", "-"];
    const { code, stderr } = await startProgram(shell, { home }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("which is empty");
  });

  it("includes a folder under the home for a demo, or a named folder", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("folder", test);
    const caller = await tempFolder("caller", test);
    const scenario = await writeScenario(home, delegating);
    const own = await troupe(["run", "make it", "--scenario", scenario], { home, cwd: caller });
    const [, session = "", folder = ""] = /session (\S+) {2}in (.+)/.exec(own.stderr) ?? [];
    expect(folder).toBe(path.join(home, "workspaces", session));
    expect(await readFile(path.join(folder, "made.txt"), "utf8")).toBe("made");
    expect(await readdir(caller)).toEqual([]);

    await mkdir(path.join(caller, "named"));
    const named = await troupe(["run", "make it", "--workspace", "named", "--scenario", scenario], {
      home,
      cwd: caller,
    });
    expect(named.stderr).toContain(`in ${await realpath(path.join(caller, "named"))}\n`);
    expect(await readFile(path.join(caller, "named", "made.txt"), "utf8")).toBe("made");
  });

  it("includes the scenario of TROUPE_MODEL, for every session of the process", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("model", test);
    const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, saying("from the named scenario"))}` };
    expect(await troupe(["run", "x"], { home, env })).toMatchObject({ code: 0, stdout: "from the named scenario\n" });
    const daemon = await startDaemonInProcess({ home, test, env });
    expect(daemon.ready.provider).toBe(`scripted (${env.TROUPE_MODEL.replace("scripted/", "")}, offline)`);
    expect(await troupe(["run", "x"], { home })).toMatchObject({ code: 0, stdout: "from the named scenario\n" });
  });
});

describe.concurrent("a run that does not complete", () => {
  const failing = { main: [{ steps: [{ text: "x", error: { type: "model" as const, message: "no way on" } }] }] };
  const locked = { main: [{ steps: [{ text: "x", error: { type: "auth" as const, message: "no way in" } }] }] };
  const looping = {
    main: [{ steps: [{ text: "again", calls: [{ tool: "read", args: { path: "." } }], repeat: true }] }],
  };
  const asking = (path: string) => ({ text: "on", calls: [{ tool: "read", args: { path } }] });
  const endless = { main: [{ steps: Array.from({ length: 60 }, (_, i) => asking(`file-${i}`)) }] };
  it.for([
    { what: "fails", agents: failing, flags: [], code: 6, says: "why:   no way on", response: { status: "failed" } },
    {
      what: "gets a wrong key",
      agents: locked,
      flags: [],
      code: 4,
      says: "why:   no way in",
      response: { status: "failed" },
    },
    {
      what: "repeats the same call",
      agents: looping,
      flags: [],
      code: 7,
      says: "the run stopped at a limit (repeated_calls)",
      response: { status: "bailed_out", bailoutReason: "repeated_calls" },
    },
    {
      what: "reaches its cap of iterations",
      agents: endless,
      flags: [],
      code: 7,
      says: "the run stopped at a limit (max_iterations)",
      response: { status: "bailed_out", bailoutReason: "max_iterations" },
    },
    {
      what: "runs out of time",
      agents: saying("never said", 600_000),
      flags: ["--timeout", "500"],
      code: 7,
      says: "the run ran out of time",
      response: { status: "timeout" },
    },
  ])("because it $what: exits with $code and prints the reason", async (end, { expect, onTestFinished }) => {
    const home = await tempFolder("end", { onTestFinished });
    const command = ["run", "try it", "--scenario", await writeScenario(home, end.agents), ...end.flags];
    const [text, json] = await Promise.all([
      troupe(command, { home }),
      troupe([...command, "--json"], { home, ownProcess: false }),
    ]);
    expect(text.code).toBe(end.code);
    expect(text.stderr).toContain(end.says);
    expect(text.stderr).toMatch(/\nfix: {3}troupe sessions show \S+ --tree\n/);
    expect(json.code).toBe(end.code);
    expect(decodeText(RunResponse, json.stdout, "stdout")).toMatchObject({ ...end.response, success: false });
  });

  it("because its daemon is killed: exits with 5, names the session, and the next daemon continues it", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("killed", test);
    const scenario = await writeScenario(home, saying("said in the end", 1_500));
    const daemon = await startDaemon({ home, test });
    const run = startInProcess(["run", "hold on", "--scenario", scenario], { home });
    const [, session = ""] = await run.waitForOutput(/session (\S+)/);
    await run.waitForOutput(/● main/);
    await daemon.kill();
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    expect(stderr).toMatch(new RegExp(`error: .*${session}.*\\n(why: .*\\n)?fix: {3}troupe up\\n$`));

    const next = await startDaemonInProcess({ home, test });
    const response = await until(() => next.client.response(session).catch(() => null));
    expect(response).toMatchObject({ status: "completed", details: "said in the end" });
  });

  it("because of Ctrl-C: cancels its session and exits with 130", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("interrupt", test);
    const scenario = await writeScenario(home, saying("never said", 600_000));
    const daemon = await startDaemonInProcess({ home, test });
    const run = startTroupe(["run", "hold on", "--scenario", scenario], { home, test });
    const [, session = ""] = await run.waitForOutput(/session (\S+)/);
    await run.waitForOutput(/● main/);
    run.process.kill("SIGINT");
    expect(await run.ended).toMatchObject({ code: 130, stdout: "" });
    expect(await daemon.client.response(session)).toMatchObject({ status: "cancelled" });
  });
});
