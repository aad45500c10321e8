import { join } from "node:path";
import { TroupeError } from "@troupe/core";
import { isLocked } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { newestSession, startOtherOwner } from "../testing/other-owner.ts";
import { aRun } from "../testing/rows.ts";

// A session that waits for a person: asked at the terminal, told to a log, or left as it is.

afterEach(removeTemporaryFolders);

const atTerminal = () => createFakeCli({ isTerminal: true, hasKeyboard: true, env: { NO_COLOR: "1", USER: "ada" } });
const troupeOf = (cli: FakeCli) => {
  const [troupe] = cli.composition.started;
  if (!troupe) throw new Error("nothing was started");
  return troupe;
};
const linesOf = (text: string) => text.trim().split("\n");

test("the user reads first that commands run without a sandbox, and the fix", async () => {
  const cli = createFakeCli();
  const detail = "commands run unconfined";
  cli.composition.sandbox = { kind: "process-group", contains: false, detail, fix: "apt-get install bubblewrap" };
  expect(await cli.run("run", "answer 1", "--no-input")).toBe(0);
  expect(cli.err()).toContain("\ncommands run unconfined; to fix it: apt-get install bubblewrap\n");
});

describe("at a terminal", () => {
  test.each([
    ["y", { approved: true, scope: "once" }, "approved"],
    ["r", { approved: true, scope: "run" }, "approved"],
    ["a", { approved: true, scope: "rule" }, "approved"],
  ])("%s answers", async (key, answer, details) => {
    const cli = atTerminal();
    const ended = cli.run("run", "ask me");
    await cli.type(key);
    expect(await ended).toBe(0);
    expect(troupeOf(cli).answers).toEqual([{ anyArguments: false, reason: null, by: "ada", ...answer }]);
    expect(cli.out()).toBe(`${details}\n`);
    expect(cli.err()).toContain("  ✓ approved\n");
  });

  test("the question shows the path, the tool, the risk and all arguments", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "ask me");
    await cli.type("y");
    await ended;
    expect(cli.err()).toContain(
      [
        "? lead › coder asks to run shell (high risk)",
        "  it runs a command on this machine",
        '  {"command":"rm -rf build"}',
        "  y once · r for this run · a always, with these arguments · n deny",
        "",
      ].join("\n"),
    );
  });

  test.each([
    ["not here", "not here"],
    ["  ", null],
    ["x".repeat(3_000), "x".repeat(2_000)],
  ])("n denies, with the reason %j", async (typed, reason) => {
    const cli = atTerminal();
    const ended = cli.run("run", "ask me");
    await cli.type("n");
    await vi.waitFor(() => expect(cli.err()).toContain("why?"));
    await cli.type(typed);
    expect(await ended).toBe(0);
    expect(troupeOf(cli).answers).toMatchObject([{ approved: false, scope: "once", reason }]);
    expect(cli.err()).toContain("  ✗ denied\n");
  });

  test("an approval of a whole run offers only yes and no", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => cli.composition.started[0]);
    troupeOf(cli).ask(session, { tool: null, path: ["lead"], args: null });
    await vi.waitFor(() => expect(cli.err()).toContain("lead asks to run the whole run"));
    expect(cli.err()).toContain("  y once · n deny\n");
    await cli.type("y");
    await vi.waitFor(() => expect(troupeOf(cli).answers).toHaveLength(1));
    troupeOf(cli).finish(session, {});
    expect(await ended).toBe(0);
  });

  test("several questions come one after another, and progress meanwhile is printed afterwards", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => cli.composition.started[0]);
    const troupe = troupeOf(cli);
    troupe.ask(session, { args: { command: "one" } });
    troupe.ask(session, { args: { command: "two" }, requestedAt: new Date(2_000).toISOString() });
    await vi.waitFor(() => expect(cli.err()).toContain('"one"'));
    troupe.addRun(session, aRun({ session, agent: "writer", order: 1, depth: 1, task: "write it" }));
    await cli.type("y");
    await vi.waitFor(() => expect(cli.err()).toContain('"two"'));
    expect(cli.err()).not.toContain("writer");
    await cli.type("n");
    await cli.type("");
    await vi.waitFor(() => expect(cli.err()).toContain("writer: write it"));
    expect(troupe.answers.map(({ approved }) => approved)).toEqual([true, false]);
    expect(cli.err().match(/asks to run/g)).toHaveLength(2);
    troupe.finish(session, {});
    expect(await ended).toBe(0);
  });

  test("an answer from elsewhere withdraws the question", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "ask me");
    await vi.waitFor(() => expect(cli.err()).toContain("n deny"));
    const troupe = troupeOf(cli);
    const [question] = troupe.questions;
    await troupe.answer(question?.id ?? "", {
      approved: false,
      scope: "once",
      anyArguments: false,
      reason: null,
      by: "the page",
    });
    expect(await ended).toBe(0);
    expect(cli.err()).toContain("  no answer is needed anymore\n");
    expect(troupe.answers.map(({ by }) => by)).toEqual(["the page"]);
  });

  test("a late answer gets a message", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => cli.composition.started[0]);
    const troupe = troupeOf(cli);
    const asked = troupe.ask(session);
    await vi.waitFor(() => expect(cli.err()).toContain("n deny"));
    troupe.questions[0] = { ...asked, state: "denied", by: "bob" };
    await cli.type("y");
    await vi.waitFor(() => expect(cli.err()).toContain("  already denied; nothing changed\n"));
    expect(troupe.answers).toEqual([]);
    troupe.finish(session, {});
    await ended;
  });

  test("an answer that is not accepted leaves the command that answers", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "wait");
    const session = await newestSession(() => cli.composition.started[0]);
    const troupe = troupeOf(cli);
    troupe.answer = async () => {
      throw new TroupeError("CONFLICT", "not\u001b[2J now");
    };
    const { id } = troupe.ask(session);
    await cli.type("y");
    await vi.waitFor(() =>
      expect(cli.err()).toContain(`the answer was not accepted: not now; try: troupe approvals approve ${id}`),
    );
    troupe.finish(session, {});
    expect(await ended).toBe(0);
  });

  test("Ctrl-C cancels while a question is open", async () => {
    const cli = atTerminal();
    const ended = cli.run("run", "ask me");
    await vi.waitFor(() => expect(cli.err()).toContain("n deny"));
    const troupe = troupeOf(cli);
    const cancelled = Promise.withResolvers<string>();
    troupe.cancel = async (session) => {
      cancelled.resolve(session);
      return { session, outcome: "requested", status: "running" };
    };
    cli.send("SIGINT");
    const session = await cancelled.promise;
    // The question is withdrawn long before the session has settled.
    await vi.waitFor(() => expect(cli.err()).toContain("  not answered\n"));
    troupe.finish(session, { status: "cancelled", success: false });
    expect(await ended).toBe(130);
    expect(cli.err()).toContain("cancelling session");
    expect(troupeOf(cli).answers).toEqual([]);
  });
});

describe("without a user to ask", () => {
  test.each([
    ["no terminal at all", {}, []],
    ["no keyboard", { isTerminal: true }, []],
    ["no screen", { hasKeyboard: true }, ["--json"]],
  ])(
    "(%s) the request is printed once with the commands that answer it, and the run waits",
    async (_where, options, flags) => {
      const cli = createFakeCli({ ...options, env: { NO_COLOR: "1", TERM: "dumb" } });
      const ended = cli.run("run", "wait", ...flags);
      const session = await newestSession(() => cli.composition.started[0]);
      const { id } = troupeOf(cli).ask(session, { path: ["lead", "co\u001b[2Jder"] });
      const line = `lead › coder asks to run shell (high risk): troupe approvals approve ${id} # or: troupe approvals deny ${id}`;
      await vi.waitFor(() => expect(cli.err()).toContain(`waiting for approval: ${line}\n`));
      troupeOf(cli).ask(session);
      await vi.waitFor(() => expect(cli.err().match(/waiting for approval/g)).toHaveLength(2));
      troupeOf(cli).finish(session, {});
      expect(await ended).toBe(0);
      expect(cli.err().match(/waiting for approval/g)).toHaveLength(2);
    },
  );

  test("--stream-json prints each question and each answer", async () => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait", "--stream-json");
    const session = await newestSession(() => cli.composition.started[0]);
    const { id } = troupeOf(cli).ask(session);
    await vi.waitFor(() => expect(cli.out()).toContain('"event":"approval"'));
    await troupeOf(cli).answer(id, { approved: true, scope: "once", anyArguments: false, reason: null, by: "x" });
    troupeOf(cli).finish(session, {});
    expect(await ended).toBe(0);
    const approvals = linesOf(cli.out())
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === "approval");
    expect(approvals[0]).toMatchObject({ approval: { id, state: "waiting" } });
    expect(approvals.at(-1)).toMatchObject({ approval: { id, state: "approved" } });
  });
});

describe("--no-input", () => {
  test("leaves a session that waits only for a person, prints the commands that answer it, and cancels nothing", async () => {
    const cli = createFakeCli({ isTerminal: true, hasKeyboard: true, env: { NO_COLOR: "1" } });
    expect(await cli.run("run", "ask me", "--no-input")).toBe(8);
    const troupe = troupeOf(cli);
    const [question] = troupe.questions;
    expect(cli.out()).toBe("");
    expect(cli.err()).toContain("? lead › coder asks to run shell (high risk)\n");
    expect(cli.err()).toContain('  {"command":"rm -rf build"}\n');
    expect(cli.err()).toContain(
      `  troupe approvals approve ${question?.id}\n  troupe approvals deny ${question?.id}\n`,
    );
    expect(cli.err()).toMatch(/session [0-9a-f-]{36} waits for you; it continues after your answer and: troupe up\n$/);
    expect(question?.state).toBe("waiting");
    expect(troupe.closed).toBe(true);
    expect(isLocked(join(cli.home.path, "lock.db"))).toBe(false);
    expect(cli.err()).not.toContain("waiting for other sessions");
  });

  test("--json prints the questions as rows", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "ask me", "--no-input", "--json")).toBe(8);
    const { questions } = troupeOf(cli);
    expect(JSON.parse(cli.out())).toEqual({ status: "waiting", session: questions[0]?.session, approvals: questions });
  });

  test("--stream-json prints them last", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "ask me", "--no-input", "--stream-json")).toBe(8);
    const { questions } = troupeOf(cli);
    const last = JSON.parse(linesOf(cli.out()).at(-1) ?? "");
    expect(last).toEqual({ event: "waiting", status: "waiting", session: questions[0]?.session, approvals: questions });
  });

  test("leaves after the last run that could continue", async () => {
    const cli = createFakeCli();
    const ended = cli.run("run", "wait", "--no-input");
    const session = await newestSession(() => cli.composition.started[0]);
    const troupe = troupeOf(cli);
    const { runs } = await troupe.session(session);
    const parentRun = runs[0]?.run ?? "";
    const active = { session, parentRun, status: "running", completedAt: null } as const;
    const [coder, tester] = [
      aRun({ ...active, agent: "coder", order: 1 }),
      aRun({ ...active, agent: "tester", order: 2 }),
    ];
    troupe.addRun(session, coder);
    troupe.addRun(session, tester);
    troupe.ask(session, { run: coder.run });
    troupe.addRun(session, { ...tester, status: "completed", completedAt: new Date(3_000).toISOString() });
    expect(await ended).toBe(8);
  });

  test("a pause counts as well, with the command that resumes it", async () => {
    const cli = createFakeCli({ env: { NO_COLOR: "1" } });
    const { home, troupe } = await startOtherOwner(cli);
    const ended = cli.run("run", "wait", "--no-input");
    const session = await newestSession(() => troupe);
    const { runs } = await troupe.session(session);
    const [root] = runs;
    if (root) troupe.addRun(session, { ...root, exactStatus: "paused" });
    expect(await ended).toBe(8);
    expect(cli.err()).toContain(`‖ lead is paused: troupe resume ${root?.run}\n`);
    expect(cli.err()).toMatch(/waits for you; it continues after your answer\n$/);
    await home.release();
  });

  test("changes nothing for a session without questions", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "answer 42", "--no-input")).toBe(0);
    expect(cli.out()).toBe("42\n");
  });
});
