export { type ErrorCode, exitCodes, TroupeError } from "./errors.ts";
export { agentMachine } from "./machines/agent/machine.ts";
export { batchMachine } from "./machines/batch/machine.ts";
export { delegationMachine } from "./machines/delegation/machine.ts";
export { replayAgent } from "./machines/replay.ts";
export { grantOf } from "./permissions/grant.ts";
export { defaultPolicy, type Policy } from "./permissions/policy.ts";
export type { AgentRegistry, AgentSource } from "./ports/agent-registry.ts";
export type { Blobs } from "./ports/blobs.ts";
export type { Bus, BusMessage, Subscription } from "./ports/bus.ts";
export type { Clock, Ids } from "./ports/clock.ts";
export type { DiskShortage, DiskSpace } from "./ports/disk-space.ts";
export type { FileRestorer } from "./ports/file-restorer.ts";
export type { HostDirectory } from "./ports/host-directory.ts";
export type { FeedItem, Journal } from "./ports/journal.ts";
export { type Logger, silentLogger } from "./ports/logger.ts";
export type { CallProgress, ModelCallOptions, ModelProvider, ModelRequest } from "./ports/model-provider.ts";
export type { RecordReader } from "./ports/record-reader.ts";
export type {
  HandledAnswer,
  HandledIntent,
  HandledRequest,
  HandledResult,
  HandlerState,
  HandlerStep,
  RequestHandler,
} from "./ports/request-handler.ts";
export type { RunFolders } from "./ports/run-folders.ts";
export type { TroupeService } from "./ports/service.ts";
export type { TakenTask, TaskOffer, TaskQueue } from "./ports/task-queue.ts";
export type { ToolContext, ToolHost } from "./ports/tool-host.ts";
export { AgentDefinition, Risk } from "./protocol/agent.ts";
export {
  ApprovalAnswer,
  ApprovalRow,
  ChangeRow,
  DaemonStatus,
  HostRow,
  RunRow,
  SessionDetail,
  SessionRow,
  SubmitSession,
} from "./protocol/api.ts";
export { Budget, PartialBudget } from "./protocol/budget.ts";
export { CallPreview } from "./protocol/call-preview.ts";
export { DomainResponse } from "./protocol/domain-response.ts";
export { Entry, EntryBody } from "./protocol/entry.ts";
export { childRunId } from "./protocol/ids.ts";
export { InboxItem } from "./protocol/inbox.ts";
export { Json } from "./protocol/json.ts";
export { Limits, tighten } from "./protocol/limits.ts";
export { LiveEvent } from "./protocol/live.ts";
export { Message, ModelReply, Usage } from "./protocol/model.ts";
export { Grant, GrantLayer, RunRequest } from "./protocol/request.ts";
export { RunResponse, RunStatus } from "./protocol/response.ts";
export { RunError, RunFailure } from "./protocol/run-error.ts";
export { createSubjects } from "./protocol/subjects.ts";
export { ToolCall, ToolOutcome, ToolSpec } from "./protocol/tool.ts";
export { createRedactor, type Redactor, type Secret } from "./secrets/redactor.ts";
export type { Duration } from "./text/duration.ts";
