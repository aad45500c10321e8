/** Patterns of commands in lists of tools: `shell(git status:*)`. */
import { describe, expect, test } from "vitest";
import { aDefinition } from "../machines/fixtures.test-helper.ts";
import { GrantLayer } from "../protocol/request.ts";
import { ToolSpec } from "../protocol/tool.ts";
import { parseCommandPattern } from "./command-pattern.ts";
import { commandRefusal, couldNameCall } from "./command-refusal.ts";
import { grantOf, unknownToolNames } from "./grant.ts";

test.each([
  ["shell(git status:*)", { tool: "shell", words: ["git", "status"], isPrefix: true }],
  ["Bash(git status *)", { tool: "shell", words: ["git", "status"], isPrefix: true }],
  ["shell(npm test)", { tool: "shell", words: ["npm", "test"], isPrefix: false }],
  ["shell(*)", { tool: "shell", words: [], isPrefix: true }],
  ["git(push:*)", { tool: "git", words: ["git", "push"], isPrefix: true }],
  ["git(git push:*)", { tool: "git", words: ["git", "push"], isPrefix: true }],
  ["shell", null],
])("%s", (item, pattern) => {
  expect(parseCommandPattern(item)).toEqual(pattern);
});

test.each([
  "shell()",
  "shell(git",
  "shell(:*)",
  "shell(a;b)",
  "shell($A:*)",
  "shell(git *:*)",
  "(git:*)",
  "shell(a)(b)",
])("%s is no pattern", (item) => {
  expect(() => parseCommandPattern(item)).toThrow(SyntaxError);
});

const spec = (name: string) =>
  ToolSpec.parse({ name, description: name, risk: "low", effect: "read", groups: ["commands"], inputSchema: {} });
const layer = (says: Partial<GrantLayer>) => GrantLayer.parse({ from: "policy", kind: "policy", ...says });

describe("the grant of a list with patterns", () => {
  const grantable = { tools: [spec("shell"), spec("read")], agents: [] };

  test("has the tool and its limit, and each layer keeps its own", () => {
    const above = [
      layer({ tools: ["shell(git log:*)", "read"] }),
      layer({ from: "session", denyTools: ["Bash(rm:*)"] }),
    ];
    expect(grantOf(above, aDefinition(), grantable)).toMatchObject({
      tools: ["shell", "read"],
      commands: [
        { from: "policy", allow: ["shell(git log:*)", "read"], deny: [] },
        { from: "session", allow: null, deny: ["Bash(rm:*)"] },
      ],
    });
  });

  test("has no limits without patterns, like every recorded grant", () => {
    expect(grantOf([layer({ tools: ["shell"] })], aDefinition(), grantable)).not.toHaveProperty("commands");
  });

  test("names no unknown tool", () => {
    expect(unknownToolNames(["shell(git:*)", "fly(git:*)"], grantable.tools)).toEqual(["fly(git:*)"]);
  });
});

describe("a call", () => {
  const one = (...words: string[]) => [{ words, assigns: false, writes: false }];
  const refusal = (allow: string[] | null, deny: string[], commands: ReturnType<typeof one> | null) =>
    commandRefusal([{ from: "policy", allow, deny }], spec("shell"), commands);

  test("is refused with the patterns of its tool", () => {
    expect(refusal(["shell(git log:*)", "git(status)", "read"], [], one("rm", "x"))).toBe(
      "policy allows only shell(git log:*), for each command of the line",
    );
    expect(refusal(null, ["shell(rm:*)"], null)).toBe(
      "policy denies shell(rm:*), and the commands of this call cannot be told for sure",
    );
  });

  test("of a tool that the list also names as a whole, or by its group, is not limited", () => {
    expect(refusal(["shell(git log:*)", "shell"], [], one("rm"))).toBeNull();
    expect(refusal(["shell(git log:*)", "commands"], [], one("rm"))).toBeNull();
    expect(refusal(["git(log:*)", "shell"], [], one("rm"))).toBeNull();
  });

  test("is named by a tool, a group or a pattern", () => {
    const isNamed = (items: string[], ...words: string[]) => couldNameCall(items, spec("shell"), one(...words));
    expect(isNamed(["shell"], "ls")).toBe(true);
    expect(isNamed(["commands"], "ls")).toBe(true);
    expect(isNamed(["shell(rm:*)"], "rm", "x")).toBe(true);
    expect(isNamed(["shell(rm:*)"], "ls")).toBe(false);
    expect(isNamed(["git(rm:*)"], "rm")).toBe(false);
  });
});
