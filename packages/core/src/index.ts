export { addSpent, nothingSpent, remainderOf, shareOf, tightenBudget, unlimited } from "./budget/ledger.ts";
export {
  type BatchMode,
  type BatchPolicy,
  type DelegateCall,
  type DelegateTask,
  readDelegateCall,
} from "./delegation/arguments.ts";
export { delegateSpec } from "./delegation/spec.ts";
export { unaskedResponse } from "./delegation/unasked.ts";
export { type ErrorCode, exitCodes, TroupeError } from "./errors.ts";
export { isWaiting } from "./machines/agent/clock.ts";
export { type AgentContext, type AgentInput, openContext } from "./machines/agent/context.ts";
export { tokensCompacted } from "./machines/agent/context-room.ts";
export { bytesPerToken, estimateTokens, transcriptOf } from "./machines/agent/conversation.ts";
export { type Cut, cutNotice, recallToolName } from "./machines/agent/cut-notice.ts";
export type { AgentEvent } from "./machines/agent/event.ts";
export { isFree } from "./machines/agent/facts.ts";
export { agentMachine } from "./machines/agent/machine.ts";
export { composeResponse, outputSchemaOf } from "./machines/agent/response.ts";
export { failed, refusal, rejected } from "./machines/agent/rules.ts";
export { jsonIn } from "./machines/agent/sections.ts";
export { contextLimit } from "./machines/agent/turn.ts";
export {
  type BatchEvent,
  type BatchInput,
  type BatchNews,
  type BatchOutput,
  type BatchPlan,
  batchMachine,
  type PlannedTask,
} from "./machines/batch/machine.ts";
export {
  type ChildOffer,
  type DelegationEvent,
  type DelegationInput,
  type DelegationOutput,
  delegationMachine,
} from "./machines/delegation/machine.ts";
export {
  answeredEffect,
  type Effect,
  type EffectKind,
  type EffectOf,
  effectKey,
  type RefusedCall,
} from "./machines/effects.ts";
export { type RunFact, toFact } from "./machines/events.ts";
export { machineToMermaid } from "./machines/inspect.ts";
export { provideAgent } from "./machines/provide-agent.ts";
export { readResult } from "./machines/read-result.ts";
export { replayAgent } from "./machines/replay.ts";
export { noResponders, timedOut, tooLarge } from "./memory/bus.ts";
export {
  delegateNames,
  explainGrant,
  type Grantable,
  grantOf,
  isDelegate,
  layersForChild,
  namesTool,
  type Removal,
  toolRemoval,
} from "./permissions/grant.ts";
export { canonicalCall, canonicalToolName, isAliasOf } from "./permissions/tool-names.ts";
export { mayWrite } from "./permissions/write-scope.ts";
export type { Blobs } from "./ports/blobs.ts";
export type { Bus, BusMessage, Subscription } from "./ports/bus.ts";
export type { Clock, Ids } from "./ports/clock.ts";
export type { Company, CompanySource, PromptFacts } from "./ports/company.ts";
export type { HostDirectory, HostView } from "./ports/hosts.ts";
export type { AppendResult, FeedItem, Journal, OpenRun, RunAppend, WatchOptions } from "./ports/journal.ts";
export type { ModelCallOptions, ModelProvider, ModelRequest } from "./ports/model-provider.ts";
export type { RecordReader } from "./ports/record.ts";
export type { TroupeService } from "./ports/service.ts";
export type { ParkOptions, TakenTask, TakeRequest, TaskOffer, TaskQueue } from "./ports/task-queue.ts";
export type { ToolContext, ToolHost, ToolVerdict } from "./ports/tool-host.ts";
export {
  AgentDefinition,
  ContextMode,
  RetryPolicy,
  Risk,
  Subagents,
  VerifierSpec,
  WorkspaceMode,
  WriteScope,
  workspaceModeOf,
} from "./protocol/agent.ts";
export {
  AgentList,
  AgentProblem,
  AgentSummary,
  ApiError,
  ApprovalAnswer,
  ApprovalOutcome,
  ApprovalRow,
  CancelOutcome,
  ChangeRow,
  DaemonStatus,
  GrantExplanation,
  GrantVerdict,
  HostOutcome,
  HostRow,
  RecordChange,
  RecordFlaw,
  RecordStatus,
  RunControlOutcome,
  RunRow,
  SessionDetail,
  SessionGrant,
  SessionRow,
  SubmitSession,
  Submitted,
  toRecordStatus,
} from "./protocol/api.ts";
export {
  Approval,
  type ApprovalKey,
  ApprovalRule,
  ApprovalScope,
  approvalId,
  wholeRunStep,
} from "./protocol/approval.ts";
export { Budget, PartialBudget, Spent } from "./protocol/budget.ts";
export { decode, decodeText, encode, inlineBytesMax } from "./protocol/codec.ts";
export { ControlMessage, HoldsRun } from "./protocol/control.ts";
export { Effort } from "./protocol/effort.ts";
export {
  DelegationTarget,
  Entry,
  EntryBody,
  EntryHead,
  type EntryKind,
  entryIsIntact,
  isTerminal,
  openEntry,
  Pin,
  PlannedChild,
  type SealedEntry,
  sealEntry,
} from "./protocol/entry.ts";
export { FolderFile, FolderFiles } from "./protocol/folder-files.ts";
export { canonicalJson, hashBytes, hashText } from "./protocol/hash.ts";
export { HostAnnouncement, HostHeartbeat, HostLeft, HostMessage, ServedAgent } from "./protocol/host.ts";
export { type ChildKey, childRunId, derivedId, Id, Token } from "./protocol/ids.ts";
export { beginsTurn, InboxItem, type TurnRequested } from "./protocol/inbox.ts";
export { Intent, SimpleContext } from "./protocol/intent.ts";
export { Json, JsonObject } from "./protocol/json.ts";
export { Limits, PartialLimits, tighten } from "./protocol/limits.ts";
export { LiveEvent, SettledMessage } from "./protocol/live.ts";
export { Message, ModelPrice, ModelReply, Thinking, Usage } from "./protocol/model.ts";
export {
  Grant,
  GrantLayer,
  ParentRef,
  projectOf,
  RequestWorkspace,
  RunRequest,
  SessionOrigin,
} from "./protocol/request.ts";
export {
  BailoutReason,
  Metrics,
  RunResponse,
  RunStatus,
  TestSuite,
  Totals,
  toDelegationResult,
} from "./protocol/response.ts";
export { RunError, RunErrorType, RunFailure, toRunError } from "./protocol/run-error.ts";
export { createSubjects, type ParsedSubject, type Subjects, subjectMatches } from "./protocol/subjects.ts";
export {
  EffectClass,
  FileChange,
  FilePlan,
  FileVersion,
  filesOf,
  TestCounts,
  ToolCall,
  ToolOutcome,
  ToolSpec,
} from "./protocol/tool.ts";
export { protocolVersion, Version } from "./protocol/version.ts";
export {
  createRedactor,
  type RedactedStream,
  type Redactor,
  type RedactorOptions,
  type Secret,
} from "./secrets/redactor.ts";
