/**
 * The rest of core, shared by troupe's own packages. It may change in any version; import from `@troupe/core` instead.
 */
export { addSpent, nothingSpent, remainderOf, shareOf, tightenBudget, unlimited } from "./budget/ledger.ts";
export {
  type BatchMode,
  type BatchPolicy,
  type DelegateCall,
  type DelegateTask,
  readDelegateCall,
} from "./delegation/arguments.ts";
export { delegateSpec } from "./delegation/spec.ts";
export { notStartedResponse } from "./delegation/unasked.ts";
export { errorCodeOf } from "./error-code.ts";
export { createInvalidMessages, type InvalidMessageKind, type InvalidMessages } from "./invalid-messages.ts";
export { parseJsonAnswer } from "./machines/agent/answer-sections.ts";
export { isWaitingForPeople } from "./machines/agent/clock.ts";
export { tokensAfterCompaction } from "./machines/agent/compaction.ts";
export { type AgentContext, type AgentInput, openContext } from "./machines/agent/context.ts";
export { bytesPerToken, estimateTokens, transcriptOf } from "./machines/agent/conversation.ts";
export type { AgentEvent } from "./machines/agent/events.ts";
export { wasNotCharged } from "./machines/agent/model-retry.ts";
export { composeResponse, outputSchemaOf } from "./machines/agent/response.ts";
export { failedOutcome, permanentError, rejectedOutcome } from "./machines/agent/rules.ts";
export { recallToolName, type Truncation, truncationNotice } from "./machines/agent/truncation.ts";
export { contextLimit } from "./machines/agent/turn.ts";
export type {
  BatchEvent,
  BatchInput,
  BatchNews,
  BatchOutput,
  BatchPlan,
  PlannedTask,
} from "./machines/batch/machine.ts";
export type { ChildOffer, DelegationEvent, DelegationInput, DelegationOutput } from "./machines/delegation/machine.ts";
export {
  answeredEffect,
  type Effect,
  type EffectKind,
  type EffectOf,
  effectKey,
  type RefusedCall,
} from "./machines/effects.ts";
export { type RunFact, toFact } from "./machines/facts.ts";
export { machineToMermaid } from "./machines/mermaid.ts";
export { provideAgent } from "./machines/provide-agent.ts";
export { readResult } from "./machines/read-result.ts";
export { noResponders, timedOut, tooLarge } from "./memory/bus.ts";
export {
  delegateNames,
  explainGrant,
  type Grantable,
  isDelegate,
  layersForChild,
  namesTool,
  type Removal,
  toolRemoval,
} from "./permissions/grant.ts";
export {
  DelegationPolicy,
  noHostDecisions,
  type RiskDecision,
  type RiskPolicy,
  riskDecisions,
  SandboxPolicy,
  sandboxModes,
  WebPolicy,
} from "./permissions/policy.ts";
export { toolNames, unknownToolNames } from "./permissions/tool-lists.ts";
export { canonicalCall, canonicalToolName, isAliasOf } from "./permissions/tool-names.ts";
export { mayWrite } from "./permissions/write-scope.ts";
export type { PromptFacts } from "./ports/agent-registry.ts";
export { type ApprovalRules, hashArguments, type RuleScope } from "./ports/approval-rules.ts";
export type { HostView } from "./ports/host-directory.ts";
export type { AppendResult, OpenRun, RunAppend, WatchOptions } from "./ports/journal.ts";
export { ageMs, type Moment, momentOf } from "./ports/moment.ts";
export type { ModelPreference, ResolveModel } from "./ports/resolve-model.ts";
export {
  type CollectedFiles,
  type FolderCall,
  type FolderChanges,
  type FolderState,
  type RunFolder,
  sharedFolder,
} from "./ports/run-folders.ts";
export { leaseMsDefault, type ParkOptions, type TakeRequest } from "./ports/task-queue.ts";
export type { ToolAssessment } from "./ports/tool-host.ts";
export {
  ContextMode,
  RetryPolicy,
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
  ApprovalOutcome,
  CancelOutcome,
  GrantDecision,
  GrantExplanation,
  HostOutcome,
  IntegrityFinding,
  RecordChange,
  RecordStatus,
  RunControlOutcome,
  SessionGrant,
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
export { Spent } from "./protocol/budget.ts";
export { decode, decodeText, encode, inlineBytesMax } from "./protocol/codec.ts";
export { ControlMessage, RunHolderReply } from "./protocol/control.ts";
export { Effort } from "./protocol/effort.ts";
export {
  DelegationTarget,
  EntryHead,
  type EntryKind,
  entryIsIntact,
  isTerminal,
  openEntry,
  PlannedChild,
  RunSpec,
  type SealedEntry,
  sealEntry,
} from "./protocol/entry.ts";
export { FolderFile, FolderFiles } from "./protocol/folder-files.ts";
export { canonicalJson, hashBytes, hashText } from "./protocol/hash.ts";
export { HostAnnouncement, HostHeartbeat, HostLeft, HostMessage, ServedAgent } from "./protocol/host.ts";
export { type ChildKey, derivedId, Id, Token } from "./protocol/ids.ts";
export { beginsTurn, type TurnRequested } from "./protocol/inbox.ts";
export { Intent, SimpleContext } from "./protocol/intent.ts";
export { JsonObject } from "./protocol/json.ts";
export { PartialLimits } from "./protocol/limits.ts";
export { SettledMessage } from "./protocol/live.ts";
export { ModelPrice, Thinking } from "./protocol/model.ts";
export { isOfflineModel, providerOf } from "./protocol/model-id.ts";
export { ParentRef, projectOf, RequestWorkspace, SessionOrigin } from "./protocol/request.ts";
export { BailoutReason, Metrics, TestSuite, Totals, toDelegationResult } from "./protocol/response.ts";
export { RunErrorType, toRunError } from "./protocol/run-error.ts";
export { type ParsedSubject, type Subjects, subjectMatches } from "./protocol/subjects.ts";
export { EffectClass, FileChange, FilePlan, FileVersion, filesOf, TestCounts } from "./protocol/tool.ts";
export { protocolVersion, Version } from "./protocol/version.ts";
export type { RedactedStream, RedactorOptions } from "./secrets/redactor.ts";
export { didYouMean, nearestNames } from "./text/nearest-names.ts";
export { retryAfterMs } from "./text/retry-after.ts";
export { endWithinBytes, startWithinBytes } from "./text/within-bytes.ts";
