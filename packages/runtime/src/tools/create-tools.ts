import { RunFailure, type ToolSpec } from "@troupe/core";
import { defaultPolicy, type WebPolicy } from "../policy/policy.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createCommandTools } from "./commands/create-command-tools.ts";
import type { Tool } from "./define-tool.ts";
import { readTool } from "./files/read.ts";
import { writeTool } from "./files/write.ts";
import { createRecallTool, type RecallOptions } from "./memory/recall.ts";
import { createSearchTools } from "./search/create-search-tools.ts";

/** What the shipped tools are made of. */
export interface ToolParts extends RecallOptions {
  sandbox: Sandbox;
  web: WebPolicy;
  /** Where notes and the workbench of this machine are kept. */
  memoryFolder: string;
  /** Addresses and keys of web search. Never the process's own: what is here, tools may use. */
  env: Readonly<Record<string, string | undefined>>;
}

/** All tools that are shipped. */
export function createTools(parts: ToolParts): Tool[] {
  return [readTool, writeTool, ...createSearchTools(parts), ...createCommandTools(parts), createRecallTool(parts)];
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
