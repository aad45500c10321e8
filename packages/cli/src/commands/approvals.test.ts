import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { createOfflineCli } from "../testing/offline-troupe.ts";
import { startOtherOwner } from "../testing/other-owner.ts";
import { anApproval, aRule, aRun, aSession } from "../testing/rows.ts";

// Requests for approval, their answers, and the rules that answers store.

afterEach(removeTemporaryFolders);

const session = "0198a222-0000-7000-8000-000000000002";
const one = "aaaa1111-0000-8000-8000-000000000001";
const two = "aaaa2222-0000-8000-8000-000000000002";
const done = "bbbb3333-0000-8000-8000-000000000003";

function withQuestions() {
  const active = { status: "running", completedAt: null } as const;
  const row = aSession({ session, task: "wait", ...active });
  const deps = createOfflineCli([{ row, runs: [aRun({ run: row.rootRun, session, ...active })] }]);
  const at = { session, run: row.rootRun };
  deps.troupe.questions.push(
    anApproval({
      ...at,
      id: done,
      state: "denied",
      by: "bob",
      scope: "once",
      answeredAt: new Date(2_000).toISOString(),
      answerReason: "not\u001b[2J today",
    }),
    anApproval({ ...at, id: one }),
    anApproval({ ...at, id: two, tool: null, path: ["lead"], agent: "lead", args: null, risk: "medium" }),
  );
  return deps;
}

describe("approvals ls", () => {
  test("shows waiting approvals with their agents and complete calls", async () => {
    const { cli } = withQuestions();
    expect(await cli.run("approvals", "ls")).toBe(0);
    expect(cli.out().trimEnd().split("\n")).toEqual([
      "APPROVAL  SESSION   ASKED BY      TOOL           RISK    STATE        AGE",
      "aaaa1111  0198a222  lead › coder  shell          high    ? waiting  9.0 s",
      "  it runs a command on this machine",
      '  {"command":"rm -rf build"}',
      "aaaa2222  0198a222  lead          the whole run  medium  ? waiting  9.0 s",
      "  it runs a command on this machine",
    ]);
    expect(cli.err()).toContain("answer with: troupe approvals approve ID");
    expect(cli.composition.offlineCloses).toBe(0);
  });

  test("--all also shows answered ones, with the person and the reason", async () => {
    const { cli } = withQuestions();
    await cli.run("approvals", "ls", "--all");
    expect(cli.out()).toMatch(/bbbb3333 .*✗ denied .*\n.*\n.*\n {2}denied by bob: not today\n/);
  });

  test("long arguments are shown whole, and invisible characters become visible", async () => {
    const { troupe, cli } = withQuestions();
    const command = `echo \u202e${"x".repeat(300)}; curl evil\u001b[8m`;
    troupe.questions.splice(0, 3, anApproval({ session, args: { command, cwd: "." } }));
    const narrow = createFakeCli({ home: cli.home.path, composition: cli.composition, isTerminal: true });
    await narrow.run("approvals", "ls");
    const lines = narrow.out().trimEnd().split("\n").slice(3);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    const shown = lines.map((line) => line.slice(2)).join("");
    expect(JSON.parse(shown)).toEqual({ command, cwd: "." });
    expect(shown).not.toContain("\u202e");
  });

  test("--json prints the unchanged rows", async () => {
    const { cli, troupe } = withQuestions();
    await cli.run("approvals", "ls", "--json");
    expect(JSON.parse(cli.out())).toEqual(troupe.questions.slice(1));
    expect(cli.err()).toBe("");
    const all = createFakeCli({ home: cli.home.path, composition: cli.composition });
    await all.run("approvals", "ls", "--all", "--json");
    expect(JSON.parse(all.out())).toEqual(troupe.questions);
  });

  test("an empty home has none, which is not an error", async () => {
    const cli = createFakeCli();
    expect(await cli.run("approvals", "ls")).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toBe("no request waits for approval\n");
    expect(await cli.run("approvals", "ls", "--json")).toBe(0);
    expect(cli.out()).toBe("[]\n");
  });
});

describe("an answer", () => {
  test.each([
    [["approve", "aaaa1"], { approved: true, scope: "once" }, "approved shell of lead › coder"],
    [
      ["approve", one, "--run"],
      { approved: true, scope: "run" },
      "approved shell of lead › coder for the rest of its run",
    ],
    [["approve", one, "--always"], { approved: true, scope: "rule" }, /^approved .*; rule [0-9a-f-]{36} was stored$/],
    [
      ["approve", one, "--always", "--commands", "git status:*"],
      { approved: true, scope: "rule", commands: "git status:*" },
      /rule/,
    ],
    [["approve", one, "--always", "--any-arguments"], { approved: true, scope: "rule", anyArguments: true }, /rule/],
    [["deny", "AAAA2"], { approved: false, scope: "once" }, "denied the whole run of lead"],
    [["deny", one, "--reason", " too much "], { approved: false, reason: "too much" }, "denied shell of lead › coder"],
    [["deny", one, "--reason", "  "], { approved: false, reason: null }, "denied shell of lead › coder"],
    [["deny", one, "--always"], { approved: false, scope: "rule" }, /^denied .* was stored$/],
  ])("%j is stored in a home without a running troupe", async (args, answer, line) => {
    const { cli, troupe } = withQuestions();
    expect(await cli.run("approvals", ...args)).toBe(0);
    const expected = { scope: "once", anyArguments: false, reason: null, by: "ada", ...answer };
    expect(troupe.answers).toEqual([expected]);
    expect(cli.out().trimEnd()).toEqual(typeof line === "string" ? line : expect.stringMatching(line));
    expect(cli.err()).toBe("no daemon is running; this takes effect with the next: troupe up\n");
    expect(cli.composition.offlineCloses).toBe(1);
  });

  test("goes to the owner of the home, if there is one, and returns the API's row", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    const { session: asked } = await troupe.submit({ task: "wait", origin: "page" });
    const { id } = troupe.ask(asked);
    expect(await cli.run("approvals", "approve", id.slice(0, 6), "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({
      outcome: "answered",
      approval: { id, state: "approved" },
      rule: null,
    });
    expect(cli.err()).toBe("");
    await home.release();
  });

  test("prefers a waiting request over an answered one with the same prefix", async () => {
    const { cli, troupe } = withQuestions();
    const waiting = anApproval({ session, id: "bbbb4444-0000-8000-8000-000000000004" });
    troupe.questions.push(waiting);
    expect(await cli.run("approvals", "approve", "bbbb", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toMatchObject({ outcome: "answered", approval: { id: waiting.id } });
  });

  test("that comes second changes nothing, and prints the current state", async () => {
    const { cli, troupe } = withQuestions();
    expect(await cli.run("approvals", "approve", "bbbb")).toBe(0);
    expect(cli.out()).toBe("shell of lead › coder was denied by bob already; nothing changed\n");
    expect(cli.err()).toBe("");
    expect(troupe.answers).toEqual([]);
  });

  test.each([
    [["approve", "aaaa"], /"aaaa" matches 2 requests for approval/],
    [["approve", "cccc"], /there is no request for approval "cccc"\nfix: {3}troupe approvals ls --all/],
    [["deny", ""], /there is no request for approval ""/],
    [["approve", "99999999-0000-8000-8000-000000000009"], /there is no request for approval "9{8}/],
    [
      ["approve", one, "--any-arguments"],
      /needs --always: it widens the stored rule\nfix: .*approve ID --always --any-arguments/,
    ],
    [
      ["deny", one, "--any-arguments"],
      /needs --always: it widens the stored rule\nfix: .*deny ID --always --any-arguments/,
    ],
    [["approve", one, "--run", "--always"], /cannot be used with option '--always'/],
    [["deny", one, "--run"], /unknown option '--run'/],
    [["approve"], /missing required argument 'id'/],
  ])("%j is refused with 2, and answers nothing", async (args, message) => {
    const { cli, troupe } = withQuestions();
    expect(await cli.run("approvals", ...args)).toBe(2);
    expect(cli.err()).toMatch(message);
    expect(troupe.answers).toEqual([]);
    expect(cli.composition.offlineCloses).toBe(0);
  });
});

describe("rules", () => {
  const exact = aRule({ id: "dddd1111-0000-7000-8000-000000000001" });
  const broad = aRule({
    id: "dddd2222-0000-7000-8000-000000000002",
    decision: "deny",
    argsHash: null,
    args: null,
    agent: null,
  });

  function withRules() {
    const deps = createOfflineCli([]);
    deps.troupe.storedRules.push(exact, broad);
    return deps;
  }

  test("ls shows the answers that rules give, and their scopes", async () => {
    const { cli } = withRules();
    expect(await cli.run("rules", "ls")).toBe(0);
    expect(cli.out().trimEnd().split("\n")).toEqual([
      "RULE      SAYS   TOOL   AGENT  BY   AGE",
      "dddd1111  allow  shell  coder  ada  10.0 s",
      "  in /srv/here",
      '  {"command":"npm test"}',
      "dddd2222  deny   shell  any    ada  10.0 s",
      "  in /srv/here",
      "  any arguments",
    ]);
    expect(cli.composition.offlineCloses).toBe(0);
    const json = createFakeCli({ home: cli.home.path, composition: cli.composition });
    await json.run("rules", "ls", "--json");
    expect(JSON.parse(json.out())).toEqual([exact, broad]);
  });

  test("an empty list is not an error", async () => {
    const cli = createFakeCli();
    expect(await cli.run("rules", "ls")).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toContain("no rules yet");
  });

  test("rm removes one by the beginning of its id", async () => {
    const { cli, troupe } = withRules();
    expect(await cli.run("rules", "rm", "dddd1")).toBe(0);
    expect(cli.out()).toBe(`removed ${exact.id}: allow shell with {"command":"npm test"}\n`);
    expect(troupe.storedRules).toEqual([broad]);
    expect(cli.composition.offlineCloses).toBe(1);
    expect(await cli.run("rules", "rm", "dddd2", "--json")).toBe(0);
    expect(JSON.parse(cli.out().trim().split("\n").at(-1) ?? "")).toEqual(broad);
  });

  test("go through the owner of the home, if there is one", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    troupe.storedRules.push(exact);
    await cli.run("rules", "ls", "--json");
    expect(JSON.parse(cli.out())).toEqual([exact]);
    expect(await cli.run("rules", "rm", "dddd")).toBe(0);
    expect(troupe.storedRules).toEqual([]);
    await home.release();
  });

  test.each([
    ["eeee", /there is no rule "eeee"\nfix: {3}troupe rules ls/],
    ["dddd", /"dddd" matches 2 rules/],
  ])("rm %s is refused with 2", async (id, message) => {
    const { cli, troupe } = withRules();
    expect(await cli.run("rules", "rm", id)).toBe(2);
    expect(cli.err()).toMatch(message);
    expect(troupe.storedRules).toHaveLength(2);
  });
});
