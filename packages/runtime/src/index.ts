export { createFolderBlobs } from "./blobs/folder.ts";
export { systemClock, systemIds } from "./clock.ts";
export { parseStrictYaml, readSettings, type StrictYaml, type YamlForm } from "./files/strict-yaml.ts";
export type { Brought, RunFolder } from "./folders/run-folder.ts";
export {
  createRunFolders,
  type FolderFacts,
  type RunFolders,
  type RunFoldersOptions,
} from "./folders/run-folders.ts";
export { type ActorHost, type ActorHostOptions, createActorHost, type Served } from "./host/actor-host.ts";
export { clearFolders } from "./host/clear-folders.ts";
export {
  type AgentInput,
  createEmbeddedWorld,
  type EmbeddedWorld,
  type EmbeddedWorldOptions,
} from "./host/embedded-world.ts";
export { definitionHashOf } from "./host/pin.ts";
export { noProbe, type Probe, type ProbePoint } from "./host/probe.ts";
export { recoverOpenRuns } from "./host/recover.ts";
export { createRefusals, type RefusalKind, type Refusals } from "./host/refusals.ts";
export { type OpenRunsResumer, resumeOpenRuns } from "./host/resume-open-runs.ts";
export type { World } from "./host/world.ts";
export { type AnnouncerOptions, createAnnouncer, type HostAnnouncer, type HostFacts } from "./hosts/announcer.ts";
export { createHostDirectory, type HostDirectoryOptions, type RunningHostDirectory } from "./hosts/directory.ts";
export type { HostLoad } from "./hosts/host-table.ts";
export { type LookRound, type LookRoundOptions, lookRound } from "./hosts/look-round.ts";
export { type MicroOptions, type MicroService, startMicro } from "./hosts/micro.ts";
export { remoteAgents } from "./hosts/remote-agents.ts";
export { createServedAgents, type ServedAgents, type ServedAgentsOptions } from "./hosts/served-agents.ts";
export { createHttpClient, type HttpClient, type HttpClientOptions } from "./http/client.ts";
export type { FollowOptions, HttpEvent } from "./http/client-events.ts";
export { ChangePage, EntryPage, SessionList } from "./http/pages.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./http/serve.ts";
export { type Logger, silentLogger } from "./logger.ts";
export { createProvider, type ProviderOptions } from "./models/adapters.ts";
export { createLazyProvider } from "./models/lazy-provider.ts";
export { type ListModelsOptions, listModels } from "./models/list-models.ts";
export {
  type LocalModel,
  type LocalServer,
  type ModelTrap,
  type ServerKind,
  trapsOf,
} from "./models/local/local-model.ts";
export { type ProbeOptions, probeLocalServer } from "./models/local/probe.ts";
export { looksLikeKey, quoted } from "./models/looks-like-key.ts";
export {
  findCircle,
  isOfflineModel,
  type ModelNames,
  providerOf,
  resolveForAgent,
  resolveModelName,
  type TierName,
  type Tiers,
  tierNames,
} from "./models/model-names.ts";
export {
  baseUrlFrom,
  isPresetId,
  type PresetId,
  type PresetOverrides,
  type ProviderPreset,
  presetSettings,
  presets,
} from "./models/presets.ts";
export { createPriceTable, type PriceTableOptions } from "./models/prices/price-table.ts";
export type { PriceTable } from "./models/prices.ts";
export { createModelRouter, type ModelRouter } from "./models/provider-registry.ts";
export { createReliableProvider, type ReliableOptions } from "./models/reliable/reliable-provider.ts";
export type { ModelWish, ResolveModel } from "./models/resolve-model.ts";
export { createScriptedProvider, type ScriptedProviderOptions } from "./models/scripted.ts";
export { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./models/settings.ts";
export { knownTiers } from "./models/tiers.ts";
export {
  type CredentialsFile,
  type NatsCredentials,
  type NatsTls,
  natsAccess,
  secretsOfCredentials,
} from "./nats/access.ts";
export { createNatsBlobs, type NatsBlobsOptions } from "./nats/blobs.ts";
export {
  createNatsBus,
  createNatsBusOn,
  type NatsBus,
  type NatsBusEvent,
  type NatsBusHearing,
  type NatsBusOptions,
} from "./nats/bus.ts";
export { createNatsJournal, type NatsJournal, type NatsJournalOptions, type SettledSession } from "./nats/journal.ts";
export {
  type NatsAccess,
  type NatsLink,
  type NatsLinkEvent,
  type NatsLinkOptions,
  openNatsLink,
} from "./nats/link.ts";
export { type NatsPorts, type OpenNatsPortsOptions, openNatsPorts } from "./nats/open-nats.ts";
export { type PurgeOptions, type PurgeReport, type PurgingOptions, purgeSettled, startPurging } from "./nats/purge.ts";
export { type RestoreNatsJournalOptions, type RestoreReport, restoreNatsJournal } from "./nats/restore.ts";
export { serverWarnings } from "./nats/server-version.ts";
export { type NatsServers, toNatsServers } from "./nats/servers.ts";
export type { StreamCopies } from "./nats/stream-copies.ts";
export type { StreamSettings } from "./nats/stream-definitions.ts";
export type { Drift } from "./nats/stream-drift.ts";
export {
  checkStreams,
  type EnsureStreamsOptions,
  ensureStreams,
  type StreamReport,
  type StreamsOptions,
} from "./nats/streams.ts";
export { createNatsTaskQueue, type NatsTaskQueue, type NatsTaskQueueOptions } from "./nats/task-queue.ts";
export { loadPolicy, parsePolicy, policyWarnings } from "./policy/load-policy.ts";
export { defaultPolicy, type Policy, type RiskDecision, type RiskPolicy } from "./policy/policy.ts";
export { type ApprovalRules, type CallPlace, hashArguments, openApprovalRules } from "./policy/rules.ts";
export type { Divergence } from "./replay/divergence.ts";
export { type Recording, readFeed, readRecording } from "./replay/recording.ts";
export { createReplayProvider, type ReplayProviderOptions } from "./replay/replay-provider.ts";
export { type Replayed, type ReplayOptions, replaySession } from "./replay/replay-session.ts";
export { type Parted, type PutBackOptions, type PutBackReport, putBack } from "./restore/put-back.ts";
export { type CreateSandboxOptions, createSandbox } from "./sandbox/create-sandbox.ts";
export type { CommandEnd, Sandbox, SandboxedCommand, SandboxKind } from "./sandbox/sandbox.ts";
export { Fault } from "./scenarios/fault.ts";
export {
  createScenarioLoader,
  listScenarios,
  loadScenario,
  type ScenarioFolders,
  shippedScenarioFolder,
} from "./scenarios/load-scenario.ts";
export { parseScenario } from "./scenarios/parse-scenario.ts";
export { Scenario, Script, ScriptedStep } from "./scenarios/scenario.ts";
export { type ScenarioAnswer, type ScenarioQuestion, selectReply } from "./scenarios/select-reply.ts";
export { redactBlobs } from "./secrets/redact-blobs.ts";
export { redactError, redactLogger } from "./secrets/redact-error.ts";
export { redactedWorld } from "./secrets/redacted-world.ts";
export { type ProviderSecrets, type SecretSources, secretsOf } from "./secrets/secrets-of.ts";
export type { ChooseModel, SessionModel } from "./service/accept.ts";
export { type Control, type ControlOptions, createControl } from "./service/control.ts";
export { createService, type RunningService, type ServiceOptions } from "./service/service.ts";
export type { Aggregate } from "./team/aggregate.ts";
export type { SpawnOptions, TeamOptions, TeamTask, TeamWorld } from "./team/options.ts";
export type { Spawned } from "./team/spawn.ts";
export { type ActiveTask, createTeam, type FanOutOptions, type Team } from "./team/team.ts";
export { type CachedReadsOptions, cacheReads } from "./tools/cached-reads.ts";
export { createCodeTools } from "./tools/code/create-code-tools.ts";
export { createShellTool } from "./tools/commands/shell.ts";
export { createTools, shippedToolSpecs, type ToolParts } from "./tools/create-tools.ts";
export { type CustomTools, type CustomToolsOptions, createCustomTools } from "./tools/custom/custom-tools.ts";
export type { ToolProblem } from "./tools/custom/load-tools.ts";
export { type BoundCall, defineTool, type Tool, type ToolDefinition, type ToolResult } from "./tools/define-tool.ts";
export { createFileTools } from "./tools/files/create-file-tools.ts";
export type { FileToolParts } from "./tools/files/file-room.ts";
export { createRecallTool, type RecallOptions } from "./tools/memory/recall.ts";
export { didYouMean } from "./tools/nearest-names.ts";
export { locateRipgrep } from "./tools/search/ripgrep.ts";
export { createToolHost, type LocalToolHost, type ToolHostOptions } from "./tools/tool-host.ts";
export { createWebTools, type WebToolParts } from "./tools/web/create-web-tools.ts";
export { chooseSearch, type SearchChoice, type SearchSettings, type SearchUrls } from "./tools/web/search/backends.ts";
export type { ProjectFile, ProjectFiles, ProjectKind } from "./trust/project-files.ts";
export {
  createProjectTrust,
  isInert,
  type Project,
  type ProjectTrust,
  type Standing,
  trustedFile,
} from "./trust/project-trust.ts";
export type { TrustRecord } from "./trust/trust-store.ts";
export { builtinVerifiers, type Verifier, type Verifiers } from "./verifiers/verifier.ts";
export { hideFolder } from "./workspace/hidden-folders.ts";
