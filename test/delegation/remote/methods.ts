import type { AgentDefinition, ModelReply, ModelRequest, Policy, RunError, ToolContext, ToolSpec } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import type { ToolResult } from "@troupe/tools";
import type { LogLine } from "../recording-logger.ts";
import type { CallScope } from "./peer.ts";

/** Settings of the host in the other process. */
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
  /** …and tools that the test process runs, because the test inspects them. */
  testsTools: readonly { spec: ToolSpec; outputBytesMax: number | null }[];
  modelId: string;
  /** Whether prompts are written as the shipped roles' are, or are the definitions' own words. */
  writesPrompts: boolean;
  /** The test's current time; null for the system clock. */
  nowMs: number | null;
  /** Whether the test loses messages. */
  loses: boolean;
}

/** Activity count of a process, and its offered minus taken tasks. */
export interface Activities {
  count: number;
  untaken: number;
}

/** Methods that the test calls on the other process. */
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

/** Notifications before a model's reply. */
export type ModelNote =
  | { kind: "delta"; text: string }
  | { kind: "activity" }
  | { kind: "retry"; retry: { error: RunError; waitMs: number; tries: number; triesMax: number } };

/** Methods that the other process calls on the test: models, tools and time, which all hosts share. */
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
