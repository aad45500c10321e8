import type { ToolCall } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";
import { calling, type ModelOutput, type TeamAgent } from "../scripted-agents.ts";
import type { Submission } from "../team.ts";

/** An error that a model is told of: its type, and a part of its message. */
export type ExpectedError = readonly [RunErrorType, string];

/** An error that a vendor's adapter throws instead of returning a reply. */
export interface Throws {
  throws: unknown;
}

/** One invalid model output and its expected result. */
export interface Row {
  name: string;
  /** The agent whose model returns them. @default "main" */
  agent?: string;
  /** The outputs of the model, turn by turn. After them it gives a good last answer. */
  outputs: readonly (ModelOutput | Throws)[];
  /** The errors that the model reads, in order; there are no others. */
  errors?: readonly ExpectedError[];
  /** Tools that are reached all the same: before the mistake, or because they themselves refuse. @default none */
  reaches?: readonly string[];
  /** Children that are planned, though none is ever asked. @default 0 */
  plans?: number;
  submission?: Submission;
  /** Parts of the response. @default completed, with the good last answer */
  ends?: object;
}

/** Response fields of a run without side effects. */
export const nothingDone = {
  toolsUsed: [],
  filesCreated: [],
  filesModified: [],
  testsRun: 0,
  testsPassed: 0,
  artifacts: [],
};

export const lastAnswer = "I could not do it that way.";

/** Agents of the rows. `fenced` and `typed` do as their names say; no agent may delegate to `off`. */
export const agents: readonly TeamAgent[] = [
  { id: "main", tools: ["read", "write", "echo"], subagents: { allow: ["helper", "lead", "off"] } },
  { id: "toolless", tools: [], subagents: { allow: ["helper"] } },
  { id: "reader", tools: ["read"] },
  { id: "leaf", tools: ["echo"] },
  { id: "lead", tools: ["echo"], subagents: { allow: ["helper", "main"] } },
  { id: "flat", tools: [], subagents: { allow: ["helper"] }, limits: { maxDepth: 0 } },
  { id: "sparing", tools: ["echo"], subagents: { allow: ["helper"] }, limits: { maxChildren: 2, maxToolCalls: 2 } },
  { id: "brief", tools: ["echo"], subagents: { allow: ["helper"] }, limits: { maxIterations: 1 } },
  {
    id: "typed",
    tools: ["echo"],
    outputSchema: { type: "object", properties: { tests_run: { type: "integer" } }, required: ["tests_run"] },
  },
  { id: "helper", tools: ["read"] },
  { id: "other" },
  { id: "off", disabled: true },
  { id: "bystander", tools: ["echo"] },
];

/** One call, and the one error that it leads to. */
export function refused(name: string, asked: ToolCall, hears: ExpectedError, more: Partial<Row> = {}): Row {
  return { name, outputs: [calling(asked)], errors: [hears], ...more };
}

/** Values as they come out of a model's JSON: `__proto__` is a key like any other there. */
export function json(text: string): unknown {
  return JSON.parse(text);
}
