import { createSubjects } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";

/** What troupe's stores are called on a server; a namespace keeps several troupes on one server apart. */
export interface NatsNames {
  namespace: string;
  subjects: Subjects;
  /** The stream of entries and inboxes. */
  journal: string;
  /** The stream of tasks. */
  tasks: string;
  /** The object store's bucket, and the stream that it is kept in. */
  blobs: string;
  blobStream: string;
}

export function natsNames(namespace = "troupe"): NatsNames {
  const blobs = `${namespace}_blobs`;
  return {
    namespace,
    subjects: createSubjects(namespace),
    journal: `${namespace}_journal`,
    tasks: `${namespace}_tasks`,
    blobs,
    blobStream: `OBJ_${blobs}`,
  };
}
