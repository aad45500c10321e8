/**
 * Exports for troupe's own packages. They may change in any version: import from `@troupe/core` instead.
 */
export { addSpent, nothingSpent, remainderOf, shareOf, tightenBudget, unlimited } from "./budget/ledger.ts";
export { agentListTokensDefault, leaseMsDefault } from "./defaults.ts";
export { agentHint, hintRunsMin } from "./delegation/agent-hint.ts";
export { type AgentListing, type ListedAgent, listAgents } from "./delegation/agent-list.ts";
export {
  type BatchMode,
  type BatchPolicy,
  type DelegateCall,
  type DelegateTask,
  readDelegateCall,
} from "./delegation/arguments.ts";
export { findAgentSpec, findAgents, findAgentToolName } from "./delegation/find-agent.ts";
export { readSpawnCommand, spawnReply, spawnUsage } from "./delegation/spawn-command.ts";
export { delegationSpecs } from "./delegation/spec.ts";
export { errorCodeOf } from "./errors.ts";
export { createInvalidMessages, type InvalidMessageKind, type InvalidMessages } from "./invalid-messages.ts";
export { type LoadedOnce, loadOnce } from "./load-once.ts";
export { loadOptional } from "./load-optional.ts";
export { loginHomes } from "./login-homes.ts";
export { parseJsonAnswer } from "./machines/agent/answer-sections.ts";
export { complianceMessage, compliancePrefix } from "./machines/agent/child-checks.ts";
export { isWaitingForPeople } from "./machines/agent/clock.ts";
export { tokensAfterCompaction } from "./machines/agent/compaction.ts";
export { type AgentContext, type AgentInput, openContext } from "./machines/agent/context.ts";
export { bytesPerToken, estimateTokens, transcriptOf } from "./machines/agent/conversation.ts";
export { answerText } from "./machines/agent/domain-answer.ts";
export type { AgentEvent } from "./machines/agent/events.ts";
export { isCancelItem } from "./machines/agent/events.ts";
export { estimateUsage } from "./machines/agent/lost-call.ts";
export { wasNotCharged } from "./machines/agent/model-retry.ts";
export { failedOutcome, rejectedOutcome } from "./machines/agent/outcomes.ts";
export { composeResponse, outputSchemaOf } from "./machines/agent/response.ts";
export { runContextOf } from "./machines/agent/run-context.ts";
export { deadline as deadlineTimer } from "./machines/agent/setup/control.ts";
export { isActive, matchTrigger, requiredDelegation } from "./machines/agent/triggers.ts";
export { recallToolName, type Truncation, truncationNotice } from "./machines/agent/truncation.ts";
export { contextLimit, type MissingBudget, missingBudget } from "./machines/agent/turn.ts";
export { estimatedCallWarning, lostCallWarning } from "./machines/agent/usage.ts";
export type {
  BatchEvent,
  BatchInput,
  BatchOutput,
  BatchPlan,
  BatchUpdate,
  PlannedTask,
} from "./machines/batch/machine.ts";
export type { ChildOffer, DelegationEvent, DelegationInput, DelegationOutput } from "./machines/delegation/machine.ts";
export {
  answeredEffect,
  type Effect,
  type EffectKind,
  type EffectOf,
  effectKey,
  type HandledTurn,
  type RefusedCall,
} from "./machines/effects.ts";
export { type RunFact, toFact } from "./machines/facts.ts";
export { machineToMermaid } from "./machines/mermaid.ts";
export { provideAgent } from "./machines/provide-agent.ts";
export { readResult } from "./machines/replay.ts";
export { abilitiesOf, abilityOf, reachOf, toolChoiceOf } from "./permissions/agent-reach.ts";
export { agentSummaryOf } from "./permissions/agent-summary.ts";
export { commandLimits } from "./permissions/command-limits.ts";
export {
  allowsCommands,
  type CommandPattern,
  parseCommandPattern,
  patternsOf,
  type SimpleCommand,
} from "./permissions/command-pattern.ts";
export { commandRefusal, couldNameCall } from "./permissions/command-refusal.ts";
export { couldMatchCommands } from "./permissions/denied-commands.ts";
export {
  delegateNames,
  explainGrant,
  type Grantable,
  isDelegate,
  isDelegationTool,
  isReadOnly,
  lackOfTools,
  layersForChild,
  namesTool,
  type Removal,
  toolNames,
  toolRemoval,
  unknownToolNames,
} from "./permissions/grant.ts";
export {
  CommandPolicy,
  DelegationPolicy,
  DiskPolicy,
  noHostDecisions,
  type RiskDecision,
  type RiskPolicy,
  riskDecisions,
  SandboxPolicy,
  SavedFilesPolicy,
  sandboxModes,
  WebPolicy,
} from "./permissions/policy.ts";
export { canonicalCall, canonicalToolName, isAliasOf, listedToolName } from "./permissions/tool-names.ts";
export { explainUnknownTool, type UnknownTool } from "./permissions/unknown-tools.ts";
export { mayWrite } from "./permissions/write-scope.ts";
export { draftProblems, planDraftSchema, plannerContext, planOfDraft } from "./plan/plan-draft.ts";
export { findPlanProblems, type PlanProblem, resolvePlanAgents } from "./plan/plan-problems.ts";
export { completedSteps, type PlanSession, planResultOf } from "./plan/plan-result.ts";
export { planPrice, planRunnerOf } from "./plan/plan-runner.ts";
export { planModel, playPlan } from "./plan/play-plan.ts";
export { planDigest, planTask, stepKeysOf } from "./plan/step-keys.ts";
export type { AgentFiles } from "./ports/agent-files.ts";
export type { PromptFacts } from "./ports/agent-registry.ts";
export type { ApprovalRules, RuleScope } from "./ports/approval-rules.ts";
export { noResponders, timedOut, tooLarge } from "./ports/bus.ts";
export { ageMs, type Moment, momentOf } from "./ports/clock.ts";
export { type FileRestoration, NotRestoredError, type PathState } from "./ports/file-restorer.ts";
export type { HostView } from "./ports/host-directory.ts";
export type { AppendResult, OpenRun, RunAppend, WatchOptions } from "./ports/journal.ts";
export type { ModelPreference, ResolveModel } from "./ports/model-provider.ts";
export type { RecordQueries } from "./ports/record-queries.ts";
export {
  type CollectedFiles,
  type FolderCall,
  type FolderChanges,
  type FolderState,
  type RunFolder,
  sharedFolder,
} from "./ports/run-folders.ts";
export type { JournalArchive, JournalSession, RemovedSession, SessionArchive } from "./ports/session-archive.ts";
export type { SessionFiles } from "./ports/session-files.ts";
export type { ParkOptions, TakeRequest } from "./ports/task-queue.ts";
export type { ApprovalReach, ToolAssessment, ToolExamination } from "./ports/tool-host.ts";
export type { Webhooks } from "./ports/webhooks.ts";
export {
  ChildVerifier,
  ContextMode,
  Effort,
  IntentPattern,
  ObserverSpec,
  patternConflict,
  RetryPolicy,
  Subagents,
  Trigger,
  VerifierSpec,
  WorkspaceMode,
  WriteScope,
  workspaceModeOf,
} from "./protocol/agent.ts";
export {
  AgentAbility,
  AgentCheck,
  AgentDraft,
  AgentEditing,
  AgentFileList,
  AgentFileRow,
  AgentFileView,
  AgentForm,
  AgentReach,
  AgentRemoval,
  AgentRemoved,
  agentFileBytesMax,
  ToolChoice,
} from "./protocol/agent-file.ts";
export { AgentStats, AgentStatsList, statsWindowMsDefault, statsWindowMsMax } from "./protocol/agent-stats.ts";
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
  TeamList,
  toRecordStatus,
} from "./protocol/api.ts";
export {
  Approval,
  type ApprovalKey,
  ApprovalRule,
  ApprovalScope,
  ApprovedState,
  approvalId,
  BoundContent,
  FileLosses,
  hashArguments,
  isCovered,
  previewPath,
  RunAllowance,
  releases,
  staleApproval,
  wholeRunStep,
} from "./protocol/approval.ts";
export { Spent } from "./protocol/budget.ts";
export {
  type CheckProblem,
  checkProblems,
  corpusFirstOf,
  handlerNames,
  handlerProblem,
  type ObserverName,
  type ObserverParams,
  observerParams,
  type VerifierName,
  type VerifierParams,
  verifierParams,
} from "./protocol/check-params.ts";
export { decode, decodeText, encode, inlineBytesMax, protocolVersion, Version } from "./protocol/codec.ts";
export { ConversationCall, ConversationItem, ConversationPage, ConversationText } from "./protocol/conversation.ts";
export { Branch, CostGrouping, CostReport, CostRow, CostSum, OutcomeCounts, RecordTotals } from "./protocol/costs.ts";
export {
  DelegationTarget,
  EntryHead,
  type EntryKind,
  entryIsIntact,
  isTerminal,
  openEntry,
  PlannedChild,
  RunSpec,
  recordsIntent,
  type SealedEntry,
  sealEntry,
} from "./protocol/entry.ts";
export { FolderFile, FolderFiles } from "./protocol/folder-files.ts";
export { ForkedFrom, forkHost } from "./protocol/forked-from.ts";
export { canonicalJson, hashBytes, hashText } from "./protocol/hash.ts";
export {
  ControlMessage,
  HostAnnouncement,
  HostHeartbeat,
  HostLeft,
  HostMessage,
  RunHolderReply,
  ServedAgent,
} from "./protocol/host.ts";
export { type ChildKey, derivedId, Id, Token } from "./protocol/ids.ts";
export { beginsTurn, type TurnRequested, type UndoPlanned } from "./protocol/inbox.ts";
export { Intent, RunContext, SimpleContext } from "./protocol/intent.ts";
export { JsonObject } from "./protocol/json.ts";
export { PartialLimits } from "./protocol/limits.ts";
export { SettledMessage } from "./protocol/live.ts";
export { isOfflineModel, isReplayModel, ModelPrice, noModel, providerOf, Thinking } from "./protocol/model.ts";
export {
  ExecutionPlan,
  PlanAgents,
  PlanDraft,
  PlanExecution,
  PlanOutcome,
  PlanResult,
  PlanStep,
  PlanStepId,
  planShape,
  planStepShape,
  planStepsMax,
  StepResult,
  StepUsage,
  stepLimitsShape,
} from "./protocol/plan.ts";
export { ParentRef, projectOf, RequestWorkspace, SessionOrigin } from "./protocol/request.ts";
export {
  BailoutReason,
  Metrics,
  notStartedResponse,
  TestSuite,
  Totals,
  toDelegationResult,
} from "./protocol/response.ts";
export { permanentError, RunErrorType, toRunError } from "./protocol/run-error.ts";
export { IdMatch, RunNode, RunSpan, RunTimeline, SpanKind, TreePage } from "./protocol/run-tree.ts";
export {
  sampleApproval,
  sampleChange,
  sampleHost,
  sampleRule,
  sampleRun,
  sampleSession,
} from "./protocol/sample-rows.ts";
export { SearchHit, SearchPage, SnippetPart, searchCharsMax } from "./protocol/search.ts";
export {
  ForkRequest,
  SessionForked,
  SessionImported,
  SessionsRemoved,
  SessionsToRemove,
} from "./protocol/session-archive.ts";
export {
  SessionFileContent,
  SessionFileList,
  SessionFileName,
  SessionFileRow,
  SessionFileUpload,
  sessionFileBytesMax,
} from "./protocol/session-file.ts";
export { type ParsedSubject, type Subjects, subjectMatches } from "./protocol/subjects.ts";
export { isFullyTainted, joinTaint, noTaint, Taint, taintField } from "./protocol/taint.ts";
export { AgentName, agentIdOf, agentNameOf, TeamName, TeamSummary, teamAgentId } from "./protocol/team.ts";
export { TimelineEvent, TimelineKind, TimelinePage } from "./protocol/timeline.ts";
export { EffectClass, FileChange, FilePlan, FileVersion, filesOf, TestCounts } from "./protocol/tool.ts";
export {
  complianceFailed,
  complianceMessageInjected,
  complianceVerified,
  domainBlacklisted,
  TraceEvent,
} from "./protocol/trace-event.ts";
export { UndoFile, UndoneFile, UndoOutcome, UndoRequest, UndoResult, UndoRow } from "./protocol/undo.ts";
export {
  WebhookAdded,
  WebhookDraft,
  WebhookEvent,
  WebhookList,
  WebhookResent,
  WebhookRow,
  WebhookSecret,
  WebhookTest,
  WebhookUrl,
} from "./protocol/webhook.ts";
export { redactBytes } from "./secrets/redact-bytes.ts";
export type { RedactedStream, RedactorOptions } from "./secrets/redactor.ts";
export { durationForms, durationSchema, expectedDuration, parseDuration } from "./text/duration.ts";
export { lastAtMost } from "./text/last-at-most.ts";
export { didYouMean, nearestNames } from "./text/nearest-names.ts";
export { retryAfterMs } from "./text/retry-after.ts";
export { shortList, unknownAgent } from "./text/unknown-agent.ts";
export { unknownTeam } from "./text/unknown-team.ts";
export { endWithinBytes, startWithinBytes } from "./text/within-bytes.ts";
