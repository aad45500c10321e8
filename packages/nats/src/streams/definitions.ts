import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";
import type { NatsNames } from "./names.ts";

/** Settings of a namespace's streams. They apply when a stream is created. An absent size has no limit. */
export interface StreamSettings {
  /** Copies of each stream, on different servers. @default 3 on a cluster, else 1 */
  replicas?: number;
  /** Size limit of the journal in bytes. At the limit appends fail. Nothing is deleted. */
  journalBytesMax?: number;
  /** Size limit of the waiting tasks in bytes. */
  taskBytesMax?: number;
  /** Size limit of the blobs in bytes. */
  blobBytesMax?: number;
}

/** Identity and first position of a journal that replaces a lost one. */
export interface RestoredJournal {
  journalId: string;
  /** The newest position that any recorder can have seen. New positions start after it. */
  after: number;
}

/** The metadata key with the journal's id. */
export const journalIdKey = "troupe-journal-id";

/** The part of a stream's info that identifies a journal. */
interface IdentifiedStream {
  created: string;
  config: { name: string; metadata?: Record<string, string> };
}

/** Identity of a journal. A stream that was created by hand is identified by its creation time. */
export function journalIdOf({ config, created }: IdentifiedStream): string {
  return config.metadata?.[journalIdKey] ?? `${config.name}@${created}`;
}

/** The configuration that troupe requires of a stream. */
export type RequiredStream = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

type SettingsWithReplicas = Required<Pick<StreamSettings, "replicas">> & StreamSettings;

/**
 * Entries and inbox items. The stream keeps every message until an operator or `purgeSettled` purges it, and refuses new
 * messages when it is full. Duplicate detection by message id is not used: it does not survive a server restart.
 */
export function journalStream(names: NatsNames, settings: SettingsWithReplicas): RequiredStream {
  const { journal, inbox } = names.subjects.all;
  return {
    ...commonSettings(names.journal, [journal, inbox], settings.replicas, settings.journalBytesMax),
    description: "troupe: journals and inboxes of all sessions",
    retention: RetentionPolicy.Limits,
    max_msgs_per_subject: -1,
    allow_direct: true,
  };
}

/** Waiting and leased tasks, one at most for each run: a second offer of the same run is refused. */
export function taskStream(names: NatsNames, settings: SettingsWithReplicas): RequiredStream {
  return {
    ...commonSettings(names.tasks, [names.subjects.all.task], settings.replicas, settings.taskBytesMax),
    description: "troupe: runs that wait for a host or are leased by one",
    retention: RetentionPolicy.Workqueue,
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    allow_direct: true,
  };
}

/** The bucket's stream as the object store of the client library would create it. */
export function blobStream(names: NatsNames, settings: SettingsWithReplicas): RequiredStream {
  const subjects = [`$O.${names.blobs}.C.>`, `$O.${names.blobs}.M.>`];
  return {
    ...commonSettings(names.blobStream, subjects, settings.replicas, settings.blobBytesMax),
    description: "troupe: bodies too large for a message",
    retention: RetentionPolicy.Limits,
    max_msgs_per_subject: -1,
    allow_rollup_hdrs: true,
    allow_direct: true,
  };
}

function commonSettings(name: string, subjects: string[], replicas: number, bytesMax = -1): RequiredStream {
  return {
    name,
    subjects,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_bytes: bytesMax,
    max_msgs: -1,
    max_age: 0,
    max_msg_size: -1,
    no_ack: false,
    deny_delete: false,
    deny_purge: false,
  };
}
