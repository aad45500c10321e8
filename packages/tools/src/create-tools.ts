import { defaultPolicy, RunFailure, type ToolSpec } from "@troupe/core";
import type { WebPolicy } from "@troupe/core/internal";
import { createCodeTools } from "./code/create-code-tools.ts";
import { createCommandTools } from "./commands/create-command-tools.ts";
import type { Tool } from "./define-tool.ts";
import { createFileTools } from "./files/create-file-tools.ts";
import { createMemoryTools, type MemoryParts } from "./memory/create-memory-tools.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { createSearchTools } from "./search/create-search-tools.ts";
import { createWebTools, type WebToolParts } from "./web/create-web-tools.ts";

/** What the shipped tools are made of. */
export interface ToolParts extends MemoryParts, Pick<WebToolParts, "clock"> {
  sandbox: Sandbox;
  web: WebPolicy;
  /** Addresses and keys of web search. Never the process's own: what is here, tools may use. */
  env: Readonly<Record<string, string | undefined>>;
}

/** All tools that are shipped. */
export function createTools(parts: ToolParts): Tool[] {
  return [
    ...createFileTools(parts),
    ...createSearchTools(parts),
    ...createCodeTools(parts),
    ...createCommandTools(parts),
    ...createWebTools(parts),
    ...createMemoryTools(parts),
  ];
}

/** What models and policies are told of them: that needs no world. */
export function shippedToolSpecs(): ToolSpec[] {
  return createTools({
    sandbox: noSandbox,
    web: defaultPolicy.web,
    memoryFolder: "",
    env: {},
    journal: { readRun: async () => [] },
  }).map(({ spec }) => spec);
}

const noSandbox: Sandbox = {
  kind: "process-group",
  contains: false,
  detail: "nothing is run here",
  fix: null,
  run: () => Promise.reject(new RunFailure({ type: "tool_error", message: "nothing is run here", recoverable: false })),
};
