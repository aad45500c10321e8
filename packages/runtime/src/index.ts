export { type ForkPoint, forkPointsOf } from "./fork/fork-points.ts";
export { type Fork, type ForkOptions, forkSession } from "./fork/fork-session.ts";
export { type ActorHost, type ActorHostOptions, createActorHost } from "./host/actor-host.ts";
export { type Failpoint, type FailpointHook, noFailpoints } from "./host/failpoints.ts";
export type { AgentHints, HostDeps } from "./host/host-deps.ts";
export { clearFolders } from "./host/recovery/clear-folders.ts";
export { type OpenRunsResumer, recoverOpenRuns, resumeOpenRuns } from "./host/recovery/resume-open-runs.ts";
export { createHttpClient, type HttpClient, type HttpClientOptions } from "./http/client.ts";
export type { FollowOptions, HttpEvent } from "./http/client-events.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./http/serve.ts";
export { type AnnouncerOptions, createAnnouncer, type HostAnnouncer } from "./membership/announcer.ts";
export { createHostDirectory, type HostDirectoryOptions } from "./membership/directory.ts";
export { type MicroOptions, type MicroService, startMicro } from "./membership/micro.ts";
export { createServedAgents, type ServedAgents, type ServedAgentsOptions } from "./membership/served-agents.ts";
export {
  builtinObservers,
  type ObservedCall,
  type Observer,
  type ObserverFiles,
  type ObserverScope,
  type Observers,
} from "./observers/observer.ts";
export type { Divergence } from "./replay/divergence.ts";
export { type Recording, readFeed, readRecording } from "./replay/recording.ts";
export { createReplayProvider, type ReplayProviderOptions } from "./replay/replay-provider.ts";
export { type Replayed, type ReplayOptions, replaySession } from "./replay/replay-session.ts";
export { redactError, redactLogger } from "./secrets/redact-error.ts";
export { redactBlobs, redactDeps } from "./secrets/redact-ports.ts";
export { type ProviderSecrets, type SecretSources, secretsOf } from "./secrets/secrets-of.ts";
export { type Control, type ControlOptions, createControl } from "./service/control.ts";
export { createService, type RunningService, type ServiceOptions } from "./service/service.ts";
export type { Aggregate } from "./team/aggregate.ts";
export type { SpawnOptions, TeamDeps, TeamOptions, TeamTask } from "./team/options.ts";
export type { Spawned } from "./team/spawn.ts";
export { type ActiveTask, createTeam, type FanOutOptions, type Team } from "./team/team.ts";
export { builtinVerifiers, type Verifier, type Verifiers } from "./verifiers/verifier.ts";
