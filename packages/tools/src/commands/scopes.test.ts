// The write scopes of an agent also hold for its commands: the sandbox enforces them, or the user approves each command
// on a machine without one.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defaultPolicy, type Grant, type Policy, ToolCall, type ToolContext } from "@troupe/core";
import { describe } from "vitest";
import { containing, planned, sandboxTest } from "../sandbox/sandbox.fixture.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createToolHost } from "../tool-host.ts";
import { createCommandTools } from "./create-command-tools.ts";
import { makeRepository, putFiles, setUpGit } from "./git.fixture.ts";

/** The scopes of the shipped roles. */
const tester: Grant["writes"] = [["**/test", "**/tests"]];
const reviewer: Grant["writes"] = [[]];

/** A host with the command tools and an agent that calls them. */
function agentIn(workspace: string, writes: Grant["writes"], sandbox: Sandbox, policy = defaultPolicy) {
  const tools = createCommandTools({ sandbox, identity: async () => ({ name: "Ada", email: "ada@example.org" }) });
  const host = createToolHost({ tools, policy });
  const context: ToolContext = {
    session: "00000000-0000-7000-8000-000000000001",
    run: "00000000-0000-7000-8000-000000000002",
    agent: "tester",
    workspace,
    grant: { tools: tools.map(({ spec }) => spec.name), agents: [], writes },
    signal: new AbortController().signal,
    idempotencyKey: "run/1/0",
    approved: false,
    plan: null,
  };
  const callOf = (name: string, args: object) =>
    ToolCall.parse({ id: "1", name, args: JSON.parse(JSON.stringify(args)) });
  return {
    assess: (name: string, args: object) => host.assess(callOf(name, args), context),
    call: (name: string, args: object, approved = false) => host.run(callOf(name, args), { ...context, approved }),
  };
}

const calls: [string, object][] = [
  ["shell", { command: "touch src/shell.txt" }],
  ["test", {}],
  ["git", { args: ["add", "--all"] }],
  ["git_commit", { message: "x", all: true }],
];

/** A shell line that succeeds if one of the commands does. */
function anyOf(commands: readonly string[]): string {
  return commands.map((command) => `(${command})`).join(" || ");
}

describe.for(containing)("with %s", (kind) => {
  sandboxTest("the tester writes tests by shell, and nothing else", async ({ workspace, sandboxOf, expect }) => {
    putFiles(workspace, { "src/a.js": "a", "test/a.js": "a", "packages/b/test/b.js": "b" });
    const { call, assess } = agentIn(workspace, tester, await sandboxOf(kind));
    const inScope = ["test/new.js", "test/deep.js", "packages/b/test/c.js"];
    const writeAll = { command: inScope.map((path) => `echo x > ${path}`).join(" && ") };

    expect(assess("shell", writeAll)).toMatchObject({ decision: "allow", risk: "medium" });
    expect((await call("shell", writeAll)).error).toBeNull();
    for (const path of inScope) expect(existsSync(join(workspace, path)), path).toBe(true);

    // The sandbox refuses each also after an approval.
    const writeAny = ["src/new.js", "src/a.js", "new.js", "packages/b/c.js"].map((path) => `echo x > ${path}`);
    const { error, output } = await call("shell", { command: anyOf(writeAny) }, true);
    expect(error).not.toBeNull();
    expect(output).toContain("[hint: you may write only in **/test, **/tests, and in $TMPDIR]");
    expect(await readdir(join(workspace, "src"))).toEqual(["a.js"]);
  });

  // The git tools run the same commands in each kind.
  if (!planned.includes(kind)) return;
  sandboxTest("the reviewer writes nothing, and looks, and runs tests", async ({ workspace, sandboxOf, expect }) => {
    const testFile = `
      import { it } from "node:test";
      import { mkdtempSync, writeFileSync } from "node:fs";
      import { tmpdir } from "node:os";
      it("writes outside the workspace", () => writeFileSync(mkdtempSync(tmpdir() + "/x-") + "/y", "z"));
      it("writes in the workspace", () => writeFileSync("src/pwned.txt", "z"));`;
    makeRepository(workspace, { "src/a.txt": "one\n", "a.test.mjs": testFile });
    putFiles(workspace, { "src/a.txt": "two\n" });
    const { call } = agentIn(workspace, reviewer, await sandboxOf(kind, { readable: [process.execPath] }));

    const changes = ["touch x", "rm src/a.txt", "mkdir d", "echo >> src/a.txt", "git commit -qam x", "chmod 0 src"];
    expect((await call("shell", { command: anyOf(changes) })).error).not.toBeNull();
    expect((await call("git", { args: ["add", "--all"] })).error).not.toBeNull();
    expect((await call("git_commit", { message: "x", all: true })).error).not.toBeNull();

    expect((await call("shell", { command: "ls src && git diff --stat" })).output).toMatch(
      /a\.txt\n.*src\/a\.txt \| 2 /s,
    );
    expect((await call("git_diff", {})).output).toContain("-one\n+two");
    expect((await call("git", { args: ["status", "--short"] })).output).toBe("exit code 0\n M src/a.txt\n");
    expect((await call("test", {})).tests).toEqual({ run: 2, passed: 1, failed: 1, skipped: 0 });
    expect(setUpGit(workspace, "status", "--porcelain")).toBe(" M src/a.txt\n");
    expect(setUpGit(workspace, "log", "--format=%s")).toBe("begin\n");
  });
});

describe("without a sandbox", () => {
  sandboxTest.for(calls)(
    "%s %j is asked about, and a yes lets this call run",
    async ([tool, args], { workspace, sandboxOf, expect }) => {
      makeRepository(workspace, {
        "src/a.txt": "a",
        "package.json": '{"scripts":{"test":"touch src/test.txt && true"}}',
      });
      putFiles(workspace, { "src/a.txt": "b" });
      const { assess, call } = agentIn(workspace, tester, await sandboxOf("process-group"));

      const reason = expect.stringMatching(/high risk|may write only in \*\*\/test, \*\*\/tests, and no sandbox here/);
      expect(assess(tool, args)).toMatchObject({ decision: "ask", reason });
      expect((await call(tool, args)).error).toMatchObject({ type: "permission" });
      expect(setUpGit(workspace, "status", "--porcelain")).toBe(" M src/a.txt\n");

      expect((await call(tool, args, true)).error).toBeNull();
      expect(setUpGit(workspace, "status", "--porcelain")).not.toBe(" M src/a.txt\n");
      expect((await call(tool, args)).error).toMatchObject({ type: "permission" });
    },
  );

  sandboxTest(
    "a policy that lets everything run still asks about an agent with scopes",
    async ({ workspace, sandboxOf, expect }) => {
      const sandbox = await sandboxOf("process-group");
      const policy: Policy = { ...defaultPolicy, risk: { low: "allow", medium: "allow", high: "allow" } };
      const decisionOn = (tool: string, args: object, writes = reviewer) =>
        agentIn(workspace, writes, sandbox, policy).assess(tool, args);

      for (const [tool, args] of calls) {
        expect(decisionOn(tool, args)).toMatchObject({
          decision: "ask",
          reason: expect.stringContaining("may write nowhere in the workspace"),
        });
        expect(decisionOn(tool, args, [])).toMatchObject({ decision: "allow" });
      }
      expect(decisionOn("git_diff", {})).toMatchObject({ decision: "allow" });
      expect(decisionOn("git", { args: ["status"] })).toMatchObject({ decision: "allow", risk: "low" });
    },
  );
});
