/** A tool has one name, and its aliases mean that tool and no other. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aDefinition } from "../machines/fixtures.test-helper.ts";
import type { Json } from "../protocol/json.ts";
import { GrantLayer } from "../protocol/request.ts";
import { ToolCall, ToolSpec } from "../protocol/tool.ts";
import { grantOf, namesTool, toolRemoval } from "./grant.ts";
import { canonicalCall, canonicalToolName, isAliasOf } from "./tool-names.ts";

const names: Record<string, string> = {
  Read: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  Bash: "shell",
  Glob: "glob",
  Grep: "search",
  grep: "search",
  LS: "ls",
  WebFetch: "web_fetch",
  WebSearch: "web_search",
  TodoWrite: "notes",
  mcp__local_toolkit__write_local_file: "write_local_file",
  mcp__local_toolkit__workbench_upload: "workbench_upload",
  mcp__local_toolkit__workbench_download: "workbench_download",
  mcp__local_toolkit__crawl_parallel: "crawl_parallel",
  mcp__local_toolkit__save_corpus: "save_corpus",
  mcp__web_reader__webReader: "webReader",
};
const aliases = Object.keys(names);
const tools = [...new Set(Object.values(names))];

function spec(name: string, ...groups: string[]): ToolSpec {
  return ToolSpec.parse({ name, description: name, risk: "low", effect: "read", groups, inputSchema: {} });
}

function called(name: string, args: Json = {}, real: readonly string[] = []) {
  return canonicalCall(ToolCall.parse({ id: "1", name, args }), (each) => real.includes(each));
}

describe("a name", () => {
  test.each(Object.entries(names))("%s means %s", (alias, tool) => {
    expect(canonicalToolName(alias)).toBe(tool);
    expect(called(alias)).toMatchObject({ name: tool });
  });

  test.each([
    ..."read READ bash BASH Task delegate mcp__local_toolkit mcp__local_toolkit__shell mcp__other__read".split(" "),
    "mcp__local_toolkit__",
    "__proto__",
    "constructor",
    "",
    " Read",
  ])("%j is not an alias", (name) => {
    expect(canonicalToolName(name)).toBe(name);
    const call = ToolCall.parse({ id: "1", name, args: { file_path: "x" } });
    expect(canonicalCall(call, () => false)).toBe(call);
  });

  test("of an existing tool is not an alias", () => {
    expect(called("Read", { file_path: "a" }, ["Read"])).toMatchObject({ name: "Read", args: { file_path: "a" } });
    const real = [spec("Read"), spec("read")];
    const granted = (layer: Partial<GrantLayer>) =>
      grantOf([GrantLayer.parse({ from: "session", kind: "session", ...layer })], aDefinition({ tools: ["*"] }), {
        tools: real,
        agents: [],
      }).tools;
    expect(granted({ tools: ["Read"] })).toEqual(["Read"]);
    // A new tool of that name does not lift a denial.
    expect(granted({ denyTools: ["Read"] })).toEqual([]);
    expect(granted({ denyTools: ["read"] })).toEqual(["Read"]);
  });

  test("is resolved once: troupe's own name means itself", () => {
    for (const tool of tools) expect(canonicalToolName(tool)).toBe(tool);
  });
});

describe("the arguments", () => {
  test.each<[string, Json, Json]>([
    ["Read", { file_path: "a.ts", offset: 3, limit: 9 }, { path: "a.ts", offset: 3, limit: 9 }],
    ["Read", { file_path: "a.ts", offset: 0 }, { path: "a.ts" }],
    ["Read", { path: "a.ts" }, { path: "a.ts" }],
    ["Write", { file_path: "a.ts", content: "x" }, { path: "a.ts", content: "x" }],
    [
      "Edit",
      { file_path: "a", old_string: "x", new_string: "y", replace_all: true },
      { path: "a", old: "x", new: "y", all: true },
    ],
    [
      "MultiEdit",
      {
        file_path: "a",
        edits: [
          { old_string: "x", new_string: "y" },
          { old_string: "z", new_string: "", replace_all: true },
        ],
      },
      {
        path: "a",
        edits: [
          { old: "x", new: "y" },
          { old: "z", new: "", all: true },
        ],
      },
    ],
    ["Bash", { command: "ls", timeout: 5_000, description: "Lists" }, { command: "ls", timeoutMs: 5_000 }],
    ["Bash", { command: "ls", run_in_background: false }, { command: "ls" }],
    ["Glob", { pattern: "**/*.ts", path: "src" }, { pattern: "**/*.ts", path: "src" }],
    ["Grep", { pattern: "x" }, { pattern: "x", mode: "files" }],
    [
      "Grep",
      { pattern: "x", output_mode: "content", "-i": true, "-n": true, "-A": 2, "-B": 30, head_limit: 20, glob: "*.ts" },
      { pattern: "x", mode: "content", ignoreCase: true, context: 10, limit: 20, glob: "*.ts" },
    ],
    [
      "Grep",
      { pattern: "x", output_mode: "files_with_matches", head_limit: 0, type: "ts" },
      { pattern: "x", mode: "files", type: "ts" },
    ],
    ["Grep", { pattern: "x", output_mode: "count", "-C": 3, offset: 0 }, { pattern: "x", mode: "count", context: 3 }],
    ["grep", { pattern: "x", path: "src" }, { pattern: "x", path: "src" }],
    ["LS", { path: "src", ignore: ["*.map"] }, { path: "src" }],
    ["WebFetch", { url: "https://x.example", prompt: "what?" }, { url: "https://x.example" }],
    ["WebSearch", { query: "q", allowed_domains: ["x"] }, { query: "q", allowed_domains: ["x"] }],
    [
      "TodoWrite",
      {
        todos: [
          { content: "a", status: "pending", activeForm: "doing a" },
          { content: "b", status: "completed", id: "7" },
        ],
      },
      {
        action: "plan",
        items: [
          { text: "a", status: "pending" },
          { text: "b", status: "completed" },
        ],
      },
    ],
    ["mcp__local_toolkit__write_local_file", { path: "a", content: "b" }, { path: "a", content: "b" }],
  ])("of %s %j are renamed", (name, args, ours) => {
    const call = called(name, args);
    expect(call).toMatchObject({ args: ours, problem: null });
    expect(call.args).toEqual(ours);
  });

  test.each<[string, Json, string]>([
    ["Bash", { command: "x", run_in_background: true }, "nothing runs on after a call"],
    ["Bash", { command: "x", dangerouslyDisableSandbox: true }, "this machine's to say"],
    ["Grep", { pattern: "x", offset: 10 }, "not shown in parts"],
    ["Read", { path: "a", file_path: "b" }, "both mean path"],
  ])("of %s %j cannot be applied, and the model is told", (name, args, problem) => {
    expect(called(name, args)).toMatchObject({
      name: names[name],
      args: null,
      problem: expect.stringContaining(problem),
    });
  });

  test("that are not an object are left to the tool, and so is a problem that was found before", () => {
    expect(called("Read", ["a"])).toMatchObject({ name: "read", args: ["a"] });
    const broken = ToolCall.parse({ id: "1", name: "Bash", args: null, problem: "no JSON" });
    expect(canonicalCall(broken, () => false)).toEqual({ ...broken, name: "shell" });
  });

  test("named __proto__ are ordinary arguments", () => {
    const args = JSON.parse('{"file_path":"a","__proto__":{"path":"b"}}');
    const call = called("Read", args);
    expect(JSON.stringify(call.args)).toBe('{"path":"a","__proto__":{"path":"b"}}');
  });
});

describe("in lists", () => {
  test.each([
    [["Bash"], ["shell"]],
    [
      ["Read", "LS"],
      ["ls", "read"],
    ],
    [["Web*"], ["web_fetch", "web_search"]],
    [
      ["mcp__local_toolkit__*"],
      ["crawl_parallel", "save_corpus", "workbench_download", "workbench_upload", "write_local_file"],
    ],
    [["mcp__web_reader__*"], ["webReader"]],
    [["mcp__*"], []],
    [["mcp__local*"], []],
    [["bash", "REA*", "Bash*x", "mcp__local_toolkit"], []],
  ])("%j names %j", (words, named) => {
    expect(tools.filter((name) => namesTool(words, spec(name))).sort()).toEqual(named);
  });

  test("a denial by any name is a denial", () => {
    for (const [alias, tool] of Object.entries(names)) {
      const layer = GrantLayer.parse({ from: "policy", kind: "policy", denyTools: [alias] });
      expect(toolRemoval([layer], spec(tool))).toMatchObject({ by: "policy" });
    }
  });
});

/** An alias never grants more than the tool's own name. */
describe("an alias reaches only its tool", () => {
  const word = fc.oneof(
    fc.constantFrom(...aliases, ...tools, "*", "web_*", "Web*", "mcp__*", "mcp__local_toolkit__*", "files"),
    fc.string({ maxLength: 6 }),
  );
  const words = fc.array(word, { maxLength: 5 });
  const layer = fc
    .record({ tools: fc.option(words), denyTools: words })
    .map((lists) => GrantLayer.parse({ from: "session", kind: "session", ...lists }));
  const specs = tools.map((name) => spec(name, name === "read" || name === "write" ? "files" : "other"));
  const grantable = { tools: specs, agents: [] };
  const canonical = (list: readonly string[]) => list.map(canonicalToolName);

  test("in a grant", () => {
    fc.assert(
      fc.property(fc.array(layer, { maxLength: 4 }), words, words, (layers, own, denied) => {
        const definition = aDefinition({ tools: own, disallowedTools: denied });
        const granted = grantOf(layers, definition, grantable).tools;
        const translated = layers.map((each) => ({
          ...each,
          tools: each.tools && canonical(each.tools),
          denyTools: canonical(each.denyTools),
        }));
        const inOurWords = { ...definition, tools: canonical(own), disallowedTools: canonical(denied) };
        expect(granted).toEqual(grantOf(translated, inOurWords, grantable).tools);
      }),
    );
  });

  test("in a call: it is allowed only if the tool's own name is granted", () => {
    fc.assert(
      fc.property(fc.constantFrom(...aliases), words, fc.jsonValue(), (alias, own, args) => {
        const call = canonicalCall(
          ToolCall.parse({ id: "1", name: alias, args: JSON.parse(JSON.stringify(args)) }),
          (name) => tools.includes(name),
        );
        expect(call.name).toBe(names[alias]);
        const granted = grantOf([], aDefinition({ tools: own }), grantable).tools;
        const isNamed = own.some((each) =>
          namesTool([each], specs.find(({ name }) => name === call.name) ?? spec("-")),
        );
        expect(granted.includes(call.name)).toBe(isNamed);
        // A second look changes nothing.
        expect(canonicalCall(call, () => false)).toEqual(call);
      }),
    );
  });

  /** A prefix has to name the whole server of an MCP tool. */
  const serverOf = (name: string): string => /^mcp__.+?__/.exec(name)?.[0] ?? "";

  test("by a prefix: it matches the tools with such a name, and no others", () => {
    fc.assert(
      fc.property(fc.constantFrom(...aliases), fc.nat(40), fc.constantFrom(...tools), (alias, length, tool) => {
        const beginning = alias.slice(0, length);
        const isExpected = aliases.some(
          (each) =>
            names[each] === tool &&
            each.startsWith(beginning) &&
            beginning.length >= Math.max(1, serverOf(each).length),
        );
        expect(isAliasOf(`${beginning}*`, tool)).toBe(isExpected);
      }),
    );
  });
});
