export { createNatsBlobs, type NatsBlobsOptions } from "./blobs.ts";
export {
  createNatsBus,
  createNatsBusOn,
  type NatsBus,
  type NatsBusEvent,
  type NatsBusListener,
  type NatsBusOptions,
} from "./bus.ts";
export {
  type CredentialsFile,
  type NatsCredentials,
  type NatsTls,
  natsAccess,
  secretsOfCredentials,
} from "./connection/access.ts";
export {
  type NatsAccess,
  type NatsLink,
  type NatsLinkEvent,
  type NatsLinkOptions,
  openNatsLink,
} from "./connection/link.ts";
export { serverWarnings } from "./connection/server-version.ts";
export { type NatsServers, toNatsServers } from "./connection/servers.ts";
export {
  createNatsJournal,
  type NatsJournal,
  type NatsJournalOptions,
  type SettledSession,
} from "./journal/journal.ts";
export {
  type PurgeOptions,
  type PurgeReport,
  type PurgingOptions,
  purgeSettled,
  startPurging,
} from "./journal/purge.ts";
export { type NatsPorts, type OpenNatsPortsOptions, openNatsPorts } from "./open-nats.ts";
export {
  type DivergedRun,
  type RestoreEntriesOptions,
  type RestoreEntriesReport,
  restoreEntries,
} from "./restore/restore-entries.ts";
export { type RestoreNatsJournalOptions, type RestoreReport, restoreNatsJournal } from "./restore/restore-journal.ts";
export type { StreamSettings } from "./streams/definitions.ts";
export type { Drift } from "./streams/drift.ts";
export {
  checkStreams,
  type EnsureStreamsOptions,
  ensureStreams,
  type StreamCopies,
  type StreamReport,
  type StreamsOptions,
} from "./streams/streams.ts";
export { createNatsTaskQueue, type NatsTaskQueue, type NatsTaskQueueOptions } from "./task-queue/task-queue.ts";
