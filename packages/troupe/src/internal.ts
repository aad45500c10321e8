export {
  type Config,
  type ConfigOptions,
  findProvider,
  openConfig,
  readConfig,
  type SettingMap,
} from "./config/config.ts";
export { parseConfig, userConfigFile, withoutPassword } from "./config/config-file.ts";
export { natsRows } from "./config/nats-settings.ts";
export { type ConfigRow, describeOrigin } from "./config/origin.ts";
export type { Provider } from "./config/providers.ts";
export { createEmbeddedHost, type EmbeddedHost, type EmbeddedHostOptions } from "./embedded-world.ts";
export { type Home, homeFiles, locateHome, prepareHome, refuseFile } from "./home/home.ts";
export { isLocked, type Lock, tryLock } from "./home/lock.ts";
export { acquireHome, type OwnedHome, tryAcquireHome } from "./home/owned-home.ts";
export { findOwner, OwnerInfo, ownerGone, sameOwner } from "./home/owner.ts";
export { locateRecord, recordedFeed } from "./home/record.ts";
export { chooseModel, labelOf, type ModelChoice } from "./models/choose-model.ts";
export { accessModels, type ModelAccess, type Models, openModels } from "./models/open-models.ts";
export { type Connection, isSaid, keepDaysDefault, type NatsFlags } from "./nats/connection.ts";
export { findConnection } from "./nats/find-connection.ts";
export type { OwnServer } from "./nats/own-server.ts";
export { reach } from "./nats/own-server.ts";
export { awayLines, driftWarnings } from "./nats/stream-warnings.ts";
export { createActiveSessions } from "./process/active-sessions.ts";
export { agentSourceOf } from "./process/agents.ts";
export { injectClockFaults } from "./process/fault-injection.ts";
export { createOwnHost, newHostId, resumeRuns } from "./process/local-host.ts";
export { type Base, factsOf, openBase, openRecording, ownToolSpecs, serviceOver } from "./process/open-process.ts";
export { homeRedactor, openRedaction } from "./process/redaction.ts";
export type {
  Control,
  HttpOptions,
  OfflineOptions,
  OfflineTroupe,
  OwnerKind,
  RunningTroupe,
  RunningWorker,
  SandboxFacts,
  StartOptions,
  Work,
  WorkerOptions,
} from "./process/running-troupe.ts";
export { restTroupe, startTroupe, undoneOnFailure } from "./process/start-troupe.ts";
export { startWorker } from "./process/start-worker.ts";
export { openSandbox } from "./process/tools.ts";
export { announcingTrust, changed, inertWords } from "./process/trust-notices.ts";
export { ownVersion } from "./version.ts";
