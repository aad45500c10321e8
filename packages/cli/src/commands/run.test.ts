import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { findOwner, isLocked } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders, temporaryFolder } from "../testing/fake-cli.ts";
import { createFakeComposition } from "../testing/fake-composition.ts";
import { newestSession, startOtherOwner } from "../testing/other-owner.ts";
import { aResponse, aRun } from "../testing/rows.ts";
import { trustFolder } from "../testing/trust.ts";

// The contract of `troupe run`: only the answer on stdout, the right exit code, and a home that is free afterwards.

afterEach(removeTemporaryFolders);

const lastLine = (text: string) => JSON.parse(text.trim().split("\n").at(-1) ?? "");

describe("without a daemon", () => {
  test("stdout has the answer alone, stderr the rest, and the home is free afterwards", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "answer 42")).toBe(0);
    expect(cli.out()).toBe("42\n");
    expect(cli.err()).toMatch(/session [0-9a-f-]{36}/);
    expect(cli.err()).toMatch(/completed in 3\.4 s · 2 runs · 1,234 tokens · cost unknown/);
    expect(isLocked(join(cli.home.path, "lock.db"))).toBe(false);
    expect(cli.composition.started[0]?.closed).toBe(true);
  });

  test("escape sequences of an agent reach neither stdout nor stderr", async () => {
    const cli = createFakeCli();
    await cli.run("run", "answer a\u001b]52;c;cm0=\u0007b\u009b2Jc");
    expect(cli.out()).toBe("abc\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the test
    expect(cli.err()).not.toMatch(/[\u001b\u009b\u0007]/);
  });

  test("progress shows delegations and files", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "delegate it")).toBe(0);
    expect(cli.err()).toMatch(/lead → researcher: find it/);
    expect(cli.err()).toMatch(/researcher changed notes\.md/);
    expect(cli.out()).toBe("done together\n");
  });

  test("the caller's folder is the workspace of a real task", async () => {
    const cli = createFakeCli();
    await cli.run("run", "answer x", "--agent", "lead", "--timeout", "5000");
    expect(cli.composition.started[0]?.submissions).toEqual([
      {
        session: expect.any(String),
        task: "answer x",
        origin: "cli",
        agent: "lead",
        workspace: cli.cwd,
        timeoutMs: 5_000,
      },
    ]);
  });

  test("a time limit can have units", async () => {
    const cli = createFakeCli();
    await cli.run("run", "answer x", "--timeout", "1h30m");
    expect(cli.composition.started[0]?.submissions).toMatchObject([{ timeoutMs: 5_400_000 }]);
  });

  test.each([
    [
      ["--max-tokens", "5000", "--max-cost", "0.25", "--max-tool-calls", "0", "--max-runs", "3"],
      { budget: { tokens: 5_000, costUsd: 0.25, toolCalls: 0, spawns: 3 } },
    ],
    [["--max-cost", "2"], { budget: { costUsd: 2 } }],
    [
      ["--tools", "read, write", "--deny-agents", "tester"],
      { grant: { tools: ["read", "write"], denyAgents: ["tester"] } },
    ],
    [["--tools", "", "--agents", ""], { grant: { tools: [], agents: [] } }],
    [["--deny-tools", "mcp__git__*,shell,shell"], { grant: { denyTools: ["mcp__git__*", "shell"] } }],
    [[], {}],
  ])("%j limits the whole tree", async (flags, expected) => {
    const cli = createFakeCli();
    await cli.run("run", "answer x", ...flags);
    const { budget, grant } = cli.composition.started[0]?.submissions[0] ?? {};
    expect({ budget, grant }).toEqual({ budget: undefined, grant: undefined, ...expected });
  });

  test("a demo gets a folder of its own and a label, unless a workspace is named", async () => {
    const composition = createFakeComposition();
    composition.demo = true;
    const cli = createFakeCli({ composition });
    await cli.run("run", "answer x");
    expect(composition.started[0]?.submissions[0]?.workspace).toBeUndefined();
    expect(cli.err()).toContain("demo: scripted, offline; no model was called, $0");
    expect(cli.err()).toMatch(/tokens · \$0$/m);

    const named = createFakeCli({ composition });
    mkdirSync(join(named.cwd, "here"));
    await named.run("run", "answer x", "--workspace", "here");
    expect(composition.started[1]?.submissions[0]?.workspace).toBe(join(named.cwd, "here"));
  });

  test.each([
    ["a name stays a name", "demo", (_cwd: string) => "demo"],
    ["a path becomes absolute", "./my.yaml", (cwd: string) => join(cwd, "my.yaml")],
  ])("of a scenario %s, and its run is a demo", async (_what, given, expected) => {
    const cli = createFakeCli();
    await cli.run("run", "answer x", "--scenario", given);
    expect(cli.composition.started[0]?.submissions[0]).toMatchObject({ scenario: expected(cli.cwd) });
    expect(cli.composition.started[0]?.submissions[0]?.workspace).toBeUndefined();
    expect(cli.err()).toContain("demo:");
  });

  test("piped input becomes context, and empty input none", async () => {
    const cli = createFakeCli({ input: "some facts\n" });
    await cli.run("run", "answer x");
    expect(cli.composition.started[0]?.submissions[0]?.context).toBe("some facts\n");
    const empty = createFakeCli({ input: "" });
    await empty.run("run", "answer x");
    expect(empty.composition.started[0]?.submissions[0]?.context).toBeUndefined();
  });
});

describe("the model", () => {
  const submission = (cli: FakeCli) => cli.composition.started[0]?.submissions.at(-1);

  test("that is named is passed on unchanged", async () => {
    const cli = createFakeCli();
    await cli.run("run", "answer x", "--model", "sonnet");
    expect(submission(cli)).toMatchObject({ model: "sonnet", workspace: cli.cwd });
  });

  test("of the shell's environment is sent to a daemon, which may have another one", async () => {
    const composition = createFakeComposition();
    const home = join(temporaryFolder(), "home");
    const daemon = createFakeCli({ composition, home });
    const up = daemon.run("up");
    await vi.waitFor(() => expect(daemon.out()).toContain("ready"));
    const runWith = async (env: Record<string, string>) => {
      const cli = createFakeCli({ composition, home, env });
      expect(await cli.run("run", "answer x")).toBe(0);
      return submission(cli)?.model;
    };
    expect(await runWith({ TROUPE_MODEL: "openai/x" })).toBe("openai/x");
    expect(await runWith({ OPENAI_API_KEY: "k" })).toBe("openai/gpt-6-sol");
    expect(await runWith({})).toBeUndefined();
    composition.demo = true;
    expect(await runWith({ TROUPE_MODEL: "scripted/other" })).toBe("scripted/other");
    daemon.send("SIGINT");
    await up;
  });

  test("of a project is requested there, if the owner has only the demo", async () => {
    const composition = createFakeComposition();
    composition.demo = true;
    const cli = createFakeCli({ composition });
    mkdirSync(join(cli.cwd, ".troupe"));
    writeFileSync(join(cli.cwd, ".troupe", "config.yaml"), "model: ollama/qwen3");
    await trustFolder(cli.home.path, cli.cwd);
    await cli.run("run", "answer x");
    expect(submission(cli)).toMatchObject({ model: "ollama/qwen3", workspace: cli.cwd });
  });

  test("and a scenario cannot both be named", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "answer x", "--model", "sonnet", "--scenario", "demo")).toBe(2);
    expect(cli.err()).toContain("--scenario");
  });

  test("that refuses the key ends the run with 4", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "forbidden")).toBe(4);
  });
});

describe("output for programs", () => {
  test("--json: the response as one line", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "answer x", "--json")).toBe(0);
    expect(cli.out().trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(cli.out())).toMatchObject({ status: "completed", details: "x", request: "answer x" });
  });

  test("--stream-json: the session, its events, and the result last", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "delegate x", "--stream-json")).toBe(0);
    const lines = cli
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ event: "session", session: expect.any(String), demo: false });
    const changes = lines.slice(1, -1);
    expect(changes).not.toEqual([]);
    expect(changes.filter((line) => line.event !== "change" || !(line.change.position > 0))).toEqual([]);
    expect(lines.at(-1)).toMatchObject({ event: "result", response: { status: "completed" } });
  });

  test.each(["--json", "--stream-json"])("%s: an error is an object on stdout", async (flag) => {
    const cli = createFakeCli();
    expect(await cli.run("run", "  ", flag)).toBe(2);
    expect(lastLine(cli.out()).error).toMatchObject({ code: "USAGE", fix: expect.any(String) });
    expect(cli.err()).toBe("");
  });
});

describe("the end of a run", () => {
  test.each([
    ["fail", 6, "", /error: the run failed\nwhy: {3}the model gave up\nfix: {3}troupe sessions show .* --tree/],
    ["limit", 7, "as far as I got\n", /error: the run stopped at a limit \(max_iterations\)/],
  ])("a task with the outcome %s exits with %d", async (task, code, out, err) => {
    const cli = createFakeCli();
    expect(await cli.run("run", task)).toBe(code);
    expect(cli.out()).toBe(out);
    expect(cli.err()).toMatch(err);
  });

  test.each([
    ["timeout", 7],
    ["rejected", 6],
    ["cancelled", 6],
  ] as const)("a run that ends as %s exits with %d", async (status, code) => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => cli.composition.started[0]);
    cli.composition.started[0]?.finish(session, { status, success: false });
    expect(await ended).toBe(code);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s cancels the session, waits for it, and exits with %d", async (signal, code) => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait", "--json");
    await newestSession(() => cli.composition.started[0]);
    await vi.waitFor(() => expect(cli.err()).toContain("session"));
    cli.send(signal);
    expect(await ended).toBe(code);
    expect(JSON.parse(cli.out())).toMatchObject({ status: "cancelled" });
    expect(cli.err()).toContain("cancelling session");
    expect(cli.exits).toEqual([]);
  });

  test("a second signal leaves at once", async () => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait");
    await newestSession(() => cli.composition.started[0]);
    cli.send("SIGINT");
    cli.send("SIGINT");
    expect(cli.exits).toEqual([130]);
    await ended;
  });
});

describe("with a daemon", () => {
  test("the daemon runs the task, and stays the owner", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    expect(await cli.run("run", "answer 1")).toBe(0);
    expect(cli.out()).toBe("1\n");
    expect(troupe.submissions).toHaveLength(1);
    expect(cli.composition.started).toHaveLength(1);
    expect(troupe.closed).toBe(false);
    expect((await findOwner(cli.home, { patienceMs: 0 }))?.kind).toBe("daemon");
    await home.release();
  });

  test("a broken stream, or one with missed events, loses nothing", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    troupe.breakStreamAfter = 1;
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => troupe);
    troupe.addRun(session, aRun({ session, agent: "coder", depth: 1, order: 1, task: "write it" }));
    await vi.waitFor(() => expect(cli.err()).toContain("coder"));
    // Goes on from where it was: only then is nothing told twice, and nothing left out.
    await vi.waitFor(() => expect(troupe.streamStarts).toEqual([0, 2]));
    troupe.mute = true;
    troupe.finish(session, { details: "still here" });
    troupe.send({ type: "resync" });
    expect(await ended).toBe(0);
    expect(cli.out()).toBe("still here\n");
    expect(cli.err().match(/coder: write it/g)).toHaveLength(1);
    await home.release();
  });

  test("when the response to the request is lost, a repetition gets the same session", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    const submit = troupe.submit.bind(troupe);
    const sessions: unknown[] = [];
    troupe.submit = async (request) => {
      sessions.push(request.session);
      if (sessions.length === 1) throw new TroupeError("UNREACHABLE", "the connection was lost");
      return submit(request);
    };
    expect(await cli.run("run", "answer x")).toBe(0);
    expect(cli.out()).toBe("x\n");
    expect(sessions).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), sessions[0]]);
    await home.release();
  });

  test("when it leaves right after settling, the answer is read from the record", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli, "run");
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => troupe);
    await vi.waitFor(() => expect(cli.err()).toContain(session));
    const { rootRun: runId } = (await troupe.session(session)).session;
    const response = aResponse({ sessionId: session, runId, details: "settled in time" });
    cli.composition.archive = { response: async () => response, close() {} } as never;
    troupe.dead = true;
    await home.release();
    expect(await ended).toBe(0);
    expect(cli.out()).toBe("settled in time\n");
  });

  test("when it dies the exit code is 5, and the error names the session and the command that resumes it", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => troupe);
    await vi.waitFor(() => expect(cli.err()).toContain(session));
    troupe.dead = true;
    await home.release();
    expect(await ended).toBe(5);
    expect(cli.err()).toMatch(new RegExp(`error: .*${session}.*gone.*\\n(why: .*\\n)?fix: {3}troupe up`));
    expect(cli.out()).toBe("");
  });

  test("a closing daemon is waited for; then this process becomes the owner", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli, "run");
    troupe.beginClosing();
    const ended = cli.run("run", "answer later");
    await vi.waitFor(() => expect(cli.err()).toContain("closing"));
    await home.release();
    expect(await ended).toBe(0);
    expect(cli.out()).toBe("later\n");
    expect(cli.composition.started).toHaveLength(2);
  });

  test("an interrupt while waiting for it leaves with 130", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli, "run");
    troupe.beginClosing();
    const ended = cli.run("run", "answer later");
    await vi.waitFor(() => expect(cli.err()).toContain("closing"));
    cli.send("SIGINT");
    expect(await ended).toBe(130);
    expect(cli.err()).not.toContain("error");
    await home.release();
  });
});

describe("while other clients use this process", () => {
  test("it answers them, refuses new sessions, and stays until theirs are done", async () => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait for me");
    const own = await newestSession(() => cli.composition.started[0]);
    const [troupe] = cli.composition.started;
    const other = await troupe?.submit({ task: "wait for another", origin: "cli" });
    troupe?.finish(own, { details: "mine" });
    await vi.waitFor(() => expect(cli.out()).toBe("mine\n"));
    await vi.waitFor(() => expect(cli.err()).toContain("waiting for other sessions"));
    await expect(troupe?.submit({ task: "answer", origin: "cli" })).rejects.toMatchObject({ code: "CLOSING" });
    troupe?.finish(other?.session ?? "", {});
    expect(await ended).toBe(0);
  });
});

describe("bad input", () => {
  test.each([
    [["run", ""], /the task "" is empty/],
    [["run", "x", "--timeout", "soon"], /--timeout "soon" is not a whole number/],
    [["run", "x", "--timeout", "0"], /--timeout "0"/],
    [["run", "x", "--timeout", "1e3"], /--timeout "1e3"/],
    [["run", "x", "--timeout", "5 min"], /--timeout "5 min" is not .*250ms, 30s, 5m, 2h or 1h30m/],
    [["run", "x", "--timeout", "100d"], /--timeout "100d" is not a whole number from 1 to 2147483647/],
    [["run", "x", "--max-tokens", "0"], /--max-tokens "0" is not a whole number from 1/],
    [["run", "x", "--max-tokens", "1.5"], /--max-tokens "1.5"/],
    [["run", "x", "--max-cost", "0"], /--max-cost "0" is not an amount of US dollars above 0/],
    [["run", "x", "--max-cost", "$1"], /--max-cost "\$1"/],
    [["run", "x", "--max-cost", "-1"], /--max-cost/],
    [["run", "x", "--max-cost", "1e-3"], /--max-cost "1e-3"/],
    [["run", "x", "--max-tool-calls", "-1"], /--max-tool-calls "-1" is not a whole number from 0/],
    [["run", "x", "--max-runs", "many"], /--max-runs "many"/],
    [["run", "x", "--tools", "read,,write"], /--tools "read,,write" is not a list of names/],
    [["run", "x", "--deny-agents", "a b"], /--deny-agents "a b" is not a list of names.*\nfix: .*coder,tester/],
    [["run", "x", "--workspace", "no/such"], /--workspace no\/such cannot be read/],
    [["run", "x", "--agnet", "a"], /unknown option '--agnet'.*--agent/],
    [["run", "x", "--json", "--stream-json"], /cannot be used with/],
    [["run", "fix", "the", "bug"], /fix: {3}troupe run "fix the bug"/],
    [["run"], /missing required argument 'task'/],
  ])("%j is refused, and starts nothing", async (args, message) => {
    const cli = createFakeCli();
    expect(await cli.run(...args)).toBe(2);
    expect(cli.err() + cli.out()).toMatch(message);
    expect(cli.composition.started).toEqual([]);
  });

  test("a workspace that this user may not enter is refused before anything starts; root may", async () => {
    const cli = createFakeCli();
    mkdirSync(join(cli.cwd, "closed"), { mode: 0o000 });
    const code = await cli.run("run", "answer x", "--workspace", "closed");
    chmodSync(join(cli.cwd, "closed"), 0o700);
    if (process.getuid?.() === 0) return expect(code).toBe(0);
    expect([code, cli.composition.started]).toEqual([2, []]);
    expect(cli.err()).toMatch(/--workspace closed cannot be read.*\nfix: {3}chmod u\+rwx closed/s);
  });

  test("an unusable home is named", async () => {
    const cli = createFakeCli({ home: "/proc/nowhere" });
    expect(await cli.run("run", "answer")).toBe(3);
    expect(cli.err()).toMatch(
      /error: the home \/proc\/nowhere is not writable\nwhy: {3}ENOENT.*\nfix: {3}export TROUPE_HOME/,
    );
  });

  test("a failed start releases the home", async () => {
    const cli = createFakeCli({ home: join(temporaryFolder(), "h"), env: { TROUPE_LOG: "loud" } });
    expect(await cli.run("run", "answer")).toBe(2);
    expect(cli.err()).toContain('TROUPE_LOG is "loud"');
    expect(isLocked(join(cli.home.path, "lock.db"))).toBe(false);
  });
});

test("--quiet prints the answer alone, and still the error of a run that failed", async () => {
  const answers = async (end: Parameters<typeof aResponse>[0] & {}) => {
    const cli = createFakeCli();
    const ended = cli.run("run", "hello", "--quiet");
    const session = await newestSession(() => cli.composition.started[0]);
    cli.composition.started[0]?.finish(session, end);
    return { code: await ended, out: cli.out(), err: cli.err() };
  };
  expect(await answers({ details: "the answer" })).toEqual({ code: 0, out: "the answer\n", err: "" });
  const failed = await answers({ status: "failed", success: false, error: anError });
  expect(failed).toMatchObject({ code: 6, out: "" });
  expect(failed.err).toMatch(/^error: the run failed\nwhy: {3}the disk is full\nfix:/);
});

const anError = {
  type: "tool_error",
  message: "the disk is full",
  tool: null,
  recoverable: false,
  retryAfterMs: null,
} as const;
