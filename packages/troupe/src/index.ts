export type {
  AgentDefinition,
  ApprovalRow,
  ChangeRow,
  Logger,
  ModelProvider,
  PartialBudget,
  RunResponse,
  RunRow,
  SessionDetail,
  SessionRow,
  TroupeService,
} from "@troupe/core";
export { type ErrorCode, TroupeError } from "@troupe/core/errors";
export type { ExecutionPlan, PlanResult, PlanStep, StepResult } from "@troupe/core/internal";
export type { FanOutOptions, Spawned, SpawnOptions, TeamTask } from "@troupe/runtime";
export { defineTool, type Tool, type ToolDefinition, type ToolResult } from "@troupe/tools/define-tool";
export { createTroupe, type Sessions, type Troupe, type TroupeStream } from "./create-troupe.ts";
export type {
  AgentInput,
  ApprovalDecision,
  NatsOptions,
  RunOptions,
  TroupeEvent,
  TroupeOptions,
} from "./options.ts";
export type { ExecutePlanOptions, PlanOptions } from "./plans/troupe-plans.ts";
