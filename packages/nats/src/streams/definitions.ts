import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream";
import type { NatsNames } from "./names.ts";

/** What a namespace's stores are created with. Whatever is absent has no limit. */
export interface StreamSettings {
  /** Copies of everything, on as many servers. @default 3 on a cluster, else 1 */
  replicas?: number;
  /** Most bytes of journal. At the limit appends fail, and nothing that is there is let go of. */
  journalBytesMax?: number;
  /** Most bytes of waiting tasks. */
  taskBytesMax?: number;
  /** Most bytes of blobs. */
  blobBytesMax?: number;
}

/** Where a journal that was lost begins again, so that its positions go on from where they were. */
export interface RestoredJournal {
  journalId: string;
  /** The newest position that anybody can have seen. */
  after: number;
}

/** Key of the stream's metadata that tells one journal from every other. */
export const journalIdKey = "troupe-journal-id";

/** A setting that has to be as it is, with how to get it so. */
export type Wanted = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

/**
 * Entries and inboxes: everything is kept until it is purged by hand or by `purgeOld`. A full stream refuses what is
 * new. Nothing relies on the server's memory of message ids: it does not outlive a restart.
 */
export function journalStream(
  names: NatsNames,
  settings: Required<Pick<StreamSettings, "replicas">> & StreamSettings,
): Wanted {
  const { journal, inbox } = names.subjects.all;
  return {
    ...common(names.journal, [journal, inbox], settings.replicas, settings.journalBytesMax),
    description: "troupe: what every run did, and what people wished",
    retention: RetentionPolicy.Limits,
    max_msgs_per_subject: -1,
    allow_direct: true,
  };
}

/** Waiting and held tasks: one for each run at most, which is what makes offering twice offering once. */
export function taskStream(
  names: NatsNames,
  settings: Required<Pick<StreamSettings, "replicas">> & StreamSettings,
): Wanted {
  return {
    ...common(names.tasks, [names.subjects.all.task], settings.replicas, settings.taskBytesMax),
    description: "troupe: runs that wait for a host, or are held by one",
    retention: RetentionPolicy.Workqueue,
    max_msgs_per_subject: 1,
    discard_new_per_subject: true,
    allow_direct: true,
  };
}

/** The bucket as the object store itself would make it. */
export function blobStream(
  names: NatsNames,
  settings: Required<Pick<StreamSettings, "replicas">> & StreamSettings,
): Wanted {
  const subjects = [`$O.${names.blobs}.C.>`, `$O.${names.blobs}.M.>`];
  return {
    ...common(names.blobStream, subjects, settings.replicas, settings.blobBytesMax),
    description: "troupe: bodies too large for a message",
    retention: RetentionPolicy.Limits,
    max_msgs_per_subject: -1,
    allow_rollup_hdrs: true,
    allow_direct: true,
  };
}

function common(name: string, subjects: string[], replicas: number, bytesMax: number | undefined): Wanted {
  return {
    name,
    subjects,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_bytes: bytesMax ?? -1,
    max_msgs: -1,
    max_age: 0,
    max_msg_size: -1,
    no_ack: false,
    deny_delete: false,
    deny_purge: false,
  };
}
