/** Calls with the tool names and arguments of other programs are valid calls of our tools. */
import { defaultPolicy, type ToolContext } from "@troupe/core";
import { canonicalCall } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { expect, test } from "vitest";
import { createTools } from "./create-tools.ts";

const tools = new Map(
  createTools({
    sandbox: {
      kind: "process-group",
      contains: false,
      network: false,
      detail: "",
      fix: null,
      run: () => Promise.reject(new Error("no")),
    },
    web: defaultPolicy.web,
    memoryFolder: "",
    env: {},
    blobs: createMemoryBlobs(),
    journal: { readRun: async () => [] },
  }).map((tool) => [tool.spec.name, tool]),
);

const context: ToolContext = {
  session: "s",
  run: "r",
  agent: "main",
  workspace: "/w",
  grant: { tools: [], agents: [], writes: [] },
  signal: new AbortController().signal,
  idempotencyKey: "r/1/0",
  approved: false,
  plan: null,
};

test.each([
  ["Read", { file_path: "a.ts", offset: 0, limit: 20 }],
  ["Write", { file_path: "a.ts", content: "x" }],
  ["Edit", { file_path: "a.ts", old_string: "x", new_string: "y", replace_all: true }],
  ["MultiEdit", { file_path: "a.ts", edits: [{ old_string: "x", new_string: "y", replace_all: false }] }],
  ["MultiEdit", { file_path: "a.ts", edits: [{ old_string: "x", new_string: "y" }] }],
  ["Bash", { command: "ls", timeout: 600_000, description: "Lists", run_in_background: false }],
  ["Glob", { pattern: "**/*.ts", path: "src" }],
  ["Grep", { pattern: "x" }],
  [
    "Grep",
    { pattern: "x", path: "src", glob: "*.ts", type: "ts", output_mode: "content", "-i": true, "-n": true, "-A": 50 },
  ],
  ["Grep", { pattern: "x", output_mode: "count", "-B": 1, "-C": 2, head_limit: 5_000, multiline: true }],
  ["grep", { pattern: "x", path: "src" }],
  ["LS", { path: "src", ignore: ["*.map"] }],
  ["WebFetch", { url: "https://example.org", prompt: "What is it?" }],
  ["WebSearch", { query: "q", allowed_domains: ["example.org"], blocked_domains: [] }],
  ["TodoWrite", { todos: [{ content: "a", status: "in_progress", activeForm: "Doing a" }] }],
  ["mcp__local_toolkit__crawl_parallel", { url: "https://example.org", retain_images: false, session_dir: "." }],
  ["mcp__local_toolkit__crawl_parallel", { urls: ["https://example.org", "https://example.com"] }],
  [
    "mcp__local_toolkit__save_corpus",
    { articles: [{ url: "u", title: "t", content: "c", status: "success" }], workspace_path: "." },
  ],
  ["mcp__local_toolkit__write_local_file", { path: "a", content: "x" }],
  ["mcp__local_toolkit__workbench_upload", { local_path: "a", remote_path: "b" }],
  ["mcp__local_toolkit__workbench_download", { remote_path: "b", local_path: "a" }],
  ["mcp__web_reader__webReader", { url: "https://example.org", retain_images: false }],
])("%s %j", (name, args) => {
  const call = canonicalCall({ id: "1", name, args, problem: null }, (each) => tools.has(each) && each === name);
  expect(call.problem).toBeNull();
  const tool = tools.get(call.name);
  expect(tool?.spec.name).toBe(call.name);
  expect(() => tool?.bind(call.args, context)).not.toThrow();
});
