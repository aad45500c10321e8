import { defaultPolicy, RunFailure, type ToolSpec } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import type { Tool } from "@troupe/core/tool";
import { createCodeTools } from "./code/create-code-tools.ts";
import { createCommandTools } from "./commands/create-command-tools.ts";
import { createFileTools } from "./files/create-file-tools.ts";
import { createMemoryTools, type MemoryToolOptions } from "./memory/create-memory-tools.ts";
import { createReportTools } from "./report/create-report-tools.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { createSearchTools } from "./search/create-search-tools.ts";
import { createPageToolDeps, createWebTools } from "./web/create-web-tools.ts";

export interface CreateToolsOptions extends MemoryToolOptions {
  sandbox: Sandbox;
  /** The `web` section of the machine's policy. */
  web: WebPolicy;
  /** Addresses and keys of web search. Tools may use all of it, so do not pass the environment of the process. */
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Creates all built-in tools: files, search, code, commands, web, memory and reports.
 *
 * @example
 * const sandbox = await createSandbox();
 * const tools = createTools({ sandbox, journal, blobs, web: defaultPolicy.web, env: {}, memoryFolder: "/tmp/memory" });
 */
export function createTools(options: CreateToolsOptions): Tool[] {
  const pages = createPageToolDeps(options);
  return [
    ...createFileTools(options),
    ...createSearchTools(options),
    ...createCodeTools(options),
    ...createCommandTools(options),
    ...createWebTools({ ...options, pages }),
    ...createMemoryTools(options),
    ...createReportTools({ ...options, pages }),
  ];
}

/**
 * The specs of all built-in tools: names, descriptions and input schemas. It starts nothing.
 *
 * @example
 * const names = shippedToolSpecs().map(({ name }) => name);
 */
export function shippedToolSpecs(): ToolSpec[] {
  return describedTools().map(({ spec }) => spec);
}

/** All built-in tools, for reading their specs. Their calls fail, and nothing is started. */
export function describedTools(): Tool[] {
  // Their JSON schemas take 20 ms to derive.
  described ??= createTools({
    sandbox: noSandbox,
    web: defaultPolicy.web,
    memoryFolder: "",
    env: {},
    journal: { readRun: async () => [] },
  });
  return [...described];
}

let described: readonly Tool[] | undefined;

const noSandbox: Sandbox = {
  kind: "process-group",
  contains: false,
  network: true,
  detail: "this tool set only describes tools",
  fix: null,
  run: () =>
    Promise.reject(
      new RunFailure({ type: "tool_error", message: "this tool set only describes tools", recoverable: false }),
    ),
};
