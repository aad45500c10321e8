/** Lines of commands against rules by prefix, in the policy and in stored rules. Most are attempts to pass unseen. */
import { defaultPolicy, ToolCall, type ToolContext } from "@troupe/core";
import type { ApprovalRule } from "@troupe/core/internal";
import { describe, expect } from "vitest";
import { createGitTool } from "../commands/git.ts";
import { createShellTool } from "../commands/shell.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createToolHost } from "../tool-host.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { openApprovalRules } from "./approval-rules.ts";
import { parsePolicy } from "./parse-policy.ts";

const grant = { tools: ["shell", "git"], agents: [], writes: [] };
const shell = (command: string) => ToolCall.parse({ id: "1", name: "shell", args: { command } });
const git = (...args: string[]) => ToolCall.parse({ id: "1", name: "git", args: { args } });

async function createHost(policy: string, rules: readonly ApprovalRule[] = [], folder = "") {
  const sandbox = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode: "off" } });
  const identity = async () => ({ name: "Ada", email: "ada@example.org" });
  const stored = await openApprovalRules({ file: `${folder || "/nowhere"}/rules.json` });
  for (const rule of rules) await stored.add(rule);
  const tools = [createShellTool({ sandbox }), createGitTool({ sandbox, identity })];
  return createToolHost({ tools, policy: parsePolicy(policy, "policy.yaml"), rules: stored });
}

const deciding = async (policy: string, call: ToolCall, context: ToolContext) =>
  (await createHost(policy)).assess(call, { ...context, grant }).decision;

const allowed = [
  "git status",
  "git status -s",
  "git 'status'",
  "git log -5 | head",
  "git status; git log",
  "(git status)",
];
const notAllowed = [
  "git push",
  "rm -rf .",
  "git status; rm -rf .",
  "git status && rm -rf .",
  "git status || rm -rf .",
  "git status | sh",
  "git status & rm -rf .",
  "git status\nrm -rf .",
  "git status $(rm -rf .)",
  "git status `rm -rf .`",
  'git status "$(rm -rf .)"',
  `git status "\${A:-$(rm -rf .)}"`,
  "git status <(rm -rf .)",
  "git status &>log rm -rf .",
  "git status > .git/hooks/post-commit",
  "git status >> ~/.bashrc",
  "git log >& file",
  "PATH=. git status",
  "PATH=.; git status",
  "GIT_EXTERNAL_DIFF=./x git log",
  "g?t status",
  "$GIT status",
  "./git status",
  "/tmp/git status",
  "git $SUBCOMMAND",
  "git -c core.pager=./x log",
  "git statusx",
  "git status 'unclosed",
  "git status; if true; then rm x; fi",
  "f() { rm x; }; f",
  "git() { rm x; }; git status",
  "env git status",
  "git status <<X\n$(rm x)\nX",
  "time git status",
  "! rm x",
  "{ rm x; }",
  "git\u00a0status",
  "gi\u0000t status",
  "",
];
const onlyGit = `{tools: {allow: ["shell(git status:*)", "shell(git log:*)", "shell(head)"]}, risk: {high: allow}}`;

describe("tools.allow with patterns", () => {
  test.for(allowed)("allows %j", async (line, { context }) => {
    expect(await deciding(onlyGit, shell(line), context)).toBe("allow");
  });

  test.for(notAllowed)("denies %j", async (line, { context }) => {
    const host = await createHost(onlyGit);
    const outcome = await host.run(shell(line), { ...context, grant, approved: true });
    expect(outcome.error?.type).toMatch(/^(permission|params)$/);
  });
});

describe("tools.deny and tools.ask with patterns", () => {
  const matching = [
    "git push",
    "git push origin main",
    "cd a && git push",
    "git -C folder push",
    "git -c a=b push --force",
    "/usr/bin/git push",
    "GIT push",
    "g\\it push",
    "'git' \"push\"",
    "A=1 git push",
    "git push > /dev/null",
    "echo $(git push)",
    "env A=1 git push",
    "sudo -u me git push",
    "echo push | xargs git",
    "sh -c 'git push'",
    "bash -lc 'true; git push'",
    "eval git push",
    "eval 'git push'",
    "echo 'git push' | sh",
    "find . -exec git push ';'",
    "git $A",
    "git $A push",
    "$GIT push",
    "g?t push",
    "alias g=git\ng push",
    ". ./x",
    "if true; then git push; fi",
    "git push 'unclosed",
    "timeout 5 nice git push",
  ];
  const others = [
    "git pull",
    "git log --grep push",
    "echo git push",
    "git commit -m push",
    "npm test",
    "git add *.ts",
    "ls $A",
  ];

  test.for(matching)("deny %j", async (line, { context }) => {
    expect(await deciding(`{tools: {deny: ["shell(git push:*)"]}, risk: {high: allow}}`, shell(line), context)).toBe(
      "deny",
    );
  });

  test.for(matching)("ask about %j", async (line, { context }) => {
    expect(await deciding(`{tools: {ask: ["shell(git push:*)"]}, risk: {high: allow}}`, shell(line), context)).toBe(
      "ask",
    );
  });

  test.for(others)("leave %j alone", async (line, { context }) => {
    const policy = `{tools: {deny: ["shell(git push:*)"], ask: ["shell(git push:*)"]}, risk: {high: allow}}`;
    expect(await deciding(policy, shell(line), context)).toBe("allow");
  });

  test("read the arguments of git as they are", async ({ context }) => {
    const policy = `{tools: {deny: ["git(push:*)"]}, risk: {high: allow}}`;
    expect(await deciding(policy, git("push", "origin"), context)).toBe("deny");
    expect(await deciding(policy, git("log", "push"), context)).toBe("allow");
  });
});

test("the limits of a grant count on every machine", async ({ context }) => {
  const host = await createHost("{risk: {high: allow}}");
  const limited = { ...grant, commands: [{ from: "session", allow: ["shell(git log:*)"], deny: [] }] };
  const outcome = await host.run(shell("rm x"), { ...context, grant: limited });
  expect(outcome.error?.message).toContain("session allows only shell(git log:*)");
});

describe("a stored rule", () => {
  const rule = (decision: "allow" | "deny", tool: string, workspace: string): ApprovalRule => ({
    ...{
      id: `00000000-0000-7000-8000-0000000000${tool.length}`,
      decision,
      tool,
      workspace,
      argsHash: null,
      args: null,
    },
    ...{ agent: null, createdAt: "2026-01-01T00:00:00.000Z", by: "ada" },
  });
  const check = async (line: string, rules: readonly (readonly ["allow" | "deny", string])[], context: ToolContext) => {
    const stored = rules.map(([decision, tool]) => rule(decision, tool, context.workspace));
    const host = await createHost("{risk: {high: ask}}", stored, context.workspace);
    return host.assess(shell(line), { ...context, grant }).decision;
  };
  const gitRules = [["allow", "shell(git status:*)"] as const, ["allow", "shell(head:*)"] as const];

  test("allows its commands, together with other rules", async ({ context }) => {
    expect(await check("git status -s", gitRules, context)).toBe("allow");
    expect(await check("git status | head -3", gitRules, context)).toBe("allow");
    expect(await check("git status | tail -3", gitRules, context)).toBe("ask");
  });

  test.for(notAllowed.filter((line) => line !== ""))("does not allow %j", async (line, { context }) => {
    expect(await check(line, gitRules, context)).toBe("ask");
  });

  test("that denies wins", async ({ context }) => {
    const rules = [["allow", "shell(git:*)"] as const, ["deny", "shell(git push:*)"] as const];
    expect(await check("git pull", rules, context)).toBe("allow");
    expect(await check("git pull; git -C a push", rules, context)).toBe("deny");
  });
});

test("a mistake in a pattern is an error with its fix", () => {
  expect(() => parsePolicy('tools: {deny: ["shell(git push"]}', "policy.yaml")).toThrow(
    expect.objectContaining({ code: "INVALID_POLICY", fix: expect.stringContaining('"shell(git status:*)"') }),
  );
});
