export { type BackupFacts, verifyBackup } from "./backup/backup-file.ts";
export { type RecordVerified, rebuildRecord, verifyRecord } from "./backup/check-record.ts";
export { type BackupOptions, createBackup } from "./backup/create-backup.ts";
export { type RestoredBackup, type RestoreOptions, restoreBackup } from "./backup/restore-backup.ts";
export { type Cleanup, createCleanup, openWithCleanup } from "./cleanup.ts";
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
export { type OfficeDomain, type OfficeSettings, officeDomains, officeRows } from "./config/office-settings.ts";
export { type ConfigRow, describeOrigin } from "./config/origin.ts";
export { type Provider, sizesOf } from "./config/providers.ts";
export { createEmbeddedHost, type EmbeddedHost, type EmbeddedHostOptions } from "./embedded-host.ts";
export { finishRestore, restoreFiles } from "./home/finish-restore.ts";
export { checkIsFolder, type Home, homeFiles, locateHome, prepareHome } from "./home/home.ts";
export { isLocked, type Lock, tryLock } from "./home/lock.ts";
export { acquireHome, type OwnedHome, tryAcquireHome } from "./home/owned-home.ts";
export { findOwner, isSameOwner, OwnerInfo, waitForOwnerExit } from "./home/owner.ts";
export { embeddedStore, readHomeFeed, recordStoreOf, refuseEmptyRecord, selectRecord } from "./home/record.ts";
export { chooseModel, type ModelChoice, providerLabel } from "./models/choose-model.ts";
export { modelProblems } from "./models/model-problems.ts";
export { accessModels, type ModelAccess, type Models, openModels } from "./models/open-models.ts";
export { type Connection, keepDaysDefault, type NatsFlags, namesServer } from "./nats/connection.ts";
export { findConnection } from "./nats/find-connection.ts";
export type { OwnServer } from "./nats/own-server.ts";
export { startOwnServerIfAsked } from "./nats/own-server.ts";
export { offlineServerWarnings, streamWarnings } from "./nats/stream-warnings.ts";
export { chooseConnection, hasConnections, openAccount, portOf } from "./office/home-connectors.ts";
export { deleteLocalOffice, hasLocalOffice, openHomeOffice } from "./office/home-office.ts";
export { nextPlanSession, type PlanSubmission, type SessionReader } from "./plans/next-session.ts";
export { planIn } from "./plans/troupe-plans.ts";
export { createActiveSessions } from "./process/active-sessions.ts";
export { createHomeAgentSource } from "./process/agents.ts";
export { injectClockFaults } from "./process/fault-injection.ts";
export { withReserve } from "./process/journal-reserve.ts";
export { createLocalHost, newHostId, resumeRuns } from "./process/local-host.ts";
export {
  createProcessService,
  openProcess,
  openRecording,
  type ProcessParts,
  sandboxFacts,
} from "./process/open-process.ts";
export { createHomeRedactor, openRedaction } from "./process/redaction.ts";
export type {
  Control,
  HttpOptions,
  OfflineOptions,
  OfflineTroupe,
  OwnerKind,
  RunningTroupe,
  RunningWorker,
  SandboxFacts,
  ServeOptions,
  StartOptions,
  WorkerOptions,
} from "./process/running-troupe.ts";
export { openOfflineTroupe, startTroupe } from "./process/start-troupe.ts";
export { startWorker } from "./process/start-worker.ts";
export { openSandbox, readToolSpecs, type ToolSpecsOptions } from "./process/tools.ts";
export { createLoggingTrust, describeChanges, describeIgnoredFiles } from "./process/trust-notices.ts";
export { ownVersion } from "./version.ts";
export { type RunningWebhooks, startWebhooks, type WebhookOptions } from "./webhooks/start-webhooks.ts";
export { readStoredWebhooks } from "./webhooks/webhook-store.ts";
