import { describe, expect, it } from "vitest";
import { protectedPart } from "./protected-paths.ts";

describe("protected paths", () => {
  it.each([
    [".troupe", ".troupe"],
    [".troupe/agents/main.md", ".troupe"],
    [".Claude/settings.json", ".Claude"],
    ["packages/a/.claude/agents/x.md", "packages/a/.claude"],
    [".mcp.json", ".mcp.json"],
    [".git", ".git"],
    [".git/hooks/pre-commit", ".git/hooks"],
    ["lib/.git/hooks/pre-commit", "lib/.git/hooks"],
    [".git/config", ".git/config"],
    [".GIT/HOOKS/x", ".GIT/HOOKS"],
    [".vscode/tasks.json", ".vscode"],
    [".bashrc", ".bashrc"],
    [".ssh/authorized_keys", ".ssh"],
    [".gitconfig", ".gitconfig"],
    [".trou\u200cpe/agents/x.md", ".trou\u200cpe"],
    ["\uff0eclaude/settings.json", "\uff0eclaude"],
    [".\u212aclaude/../.IDEA", ".\u212aclaude/../.IDEA"],
  ])("%s", (path, part) => {
    expect(protectedPart(path)).toBe(part);
  });
});

it.each([
  "src/a.ts",
  "troupe/a",
  ".github/workflows/ci.yml",
  ".git/index",
  ".git/objects/ab/cd",
  "git/hooks/x",
  ".gitignore",
])("%s may be written", (path) => {
  expect(protectedPart(path)).toBeNull();
});
