import type { AgentDefinition, ModelReply, ModelRequest, Policy, RunError, ToolContext, ToolSpec } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import type { ToolResult } from "@troupe/tools";
import type { LogLine } from "../recording-logger.ts";
import type { CallScope } from "./peer.ts";

/** What the other process is told of the host that it is to have. */
export interface RemoteHostOptions {
  url: string;
  namespace: string;
  hostId: string;
  capacity: number;
  leaseMs?: number;
  pollMs?: number;
  /** Whose tasks it takes. */
  agents: readonly string[];
  /** The machine's own, for the approval rules of its owner. */
  folder: string;
  policy: Policy;
  /** Names of its own tools… */
  tools: readonly string[];
  /** …and those that are run by the test, because it looks into them. */
  testsTools: readonly { spec: ToolSpec; outputBytesMax: number | null }[];
  modelId: string;
  /** Whether prompts are written as the shipped roles' are, or are the definitions' own words. */
  writesPrompts: boolean;
  /** What time it is, where the test says so. */
  nowMs: number | null;
  /** Whether the test loses messages. */
  loses: boolean;
}

/** How much ever happened in a process, and the tasks that it offered less those that it took. */
export interface Activities {
  count: number;
  untaken: number;
}

/** What the test can ask of the other process. */
export type RemoteMethods = {
  /** Address of the server that it has started. */
  server(): Promise<string>;
  start(options: RemoteHostOptions): Promise<void>;
  stop(options: { graceMs: number }): Promise<void>;
  setTime(nowMs: number): void;
  fire(timer: number): void;
  /** Resolves when nothing is at work there. */
  quiet(): Promise<Activities>;
};

/** What is said before a model's answer is there. */
export type ModelNote =
  | { kind: "delta"; text: string }
  | { kind: "activity" }
  | { kind: "retry"; retry: { error: RunError; waitMs: number; tries: number; triesMax: number } };

/** What the other process has from the test: the world outside, which is the same for all hosts. */
export type TestMethods = {
  callModel(request: ModelRequest, scope: CallScope): Promise<ModelReply>;
  priceOf(model: string): Promise<ModelPrice | null>;
  runTool(
    call: { tool: string; args: unknown; context: Omit<ToolContext, "signal"> },
    scope: CallScope,
  ): Promise<ToolResult>;
  agentsOf(workspace: string | null): Promise<readonly AgentDefinition[]>;
  isLost(message: { subject: string; text: string }): boolean;
  log(line: LogLine): void;
  setTimer(timer: { id: number; delayMs: number }): void;
  clearTimer(id: number): void;
};

/** They say nothing of what hosts do. */
export const uncountedMethods: readonly (keyof RemoteMethods)[] = ["quiet", "setTime"];
