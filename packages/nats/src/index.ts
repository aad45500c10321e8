export {
  type CredentialsFile,
  type NatsCredentials,
  type NatsTls,
  natsAccess,
  secretsOfCredentials,
} from "./access.ts";
export { createNatsBlobs, type NatsBlobsOptions } from "./blobs.ts";
export {
  createNatsBus,
  createNatsBusOn,
  type NatsBus,
  type NatsBusEvent,
  type NatsBusListener,
  type NatsBusOptions,
} from "./bus.ts";
export { createNatsJournal, type NatsJournal, type NatsJournalOptions, type SettledSession } from "./journal.ts";
export { type NatsAccess, type NatsLink, type NatsLinkEvent, type NatsLinkOptions, openNatsLink } from "./link.ts";
export { type NatsPorts, type OpenNatsPortsOptions, openNatsPorts } from "./open-nats.ts";
export { type PurgeOptions, type PurgeReport, type PurgingOptions, purgeSettled, startPurging } from "./purge.ts";
export {
  type DivergedRun,
  type RestoreEntriesOptions,
  type RestoreEntriesReport,
  restoreEntries,
} from "./restore/put-back.ts";
export { type RestoreNatsJournalOptions, type RestoreReport, restoreNatsJournal } from "./restore.ts";
export { serverWarnings } from "./server-version.ts";
export { type NatsServers, toNatsServers } from "./servers.ts";
export type { StreamCopies } from "./stream-copies.ts";
export type { StreamSettings } from "./stream-definitions.ts";
export type { Drift } from "./stream-drift.ts";
export {
  checkStreams,
  type EnsureStreamsOptions,
  ensureStreams,
  type StreamReport,
  type StreamsOptions,
} from "./streams.ts";
export { createNatsTaskQueue, type NatsTaskQueue, type NatsTaskQueueOptions } from "./task-queue.ts";
