import { createSubjects } from "@troupe/core";
import type { Subjects } from "@troupe/core/internal";

/** Names of a namespace's streams on the server. A namespace separates several troupes on one server. */
export interface NatsNames {
  namespace: string;
  subjects: Subjects;
  /** The stream of entries and inbox items. */
  journal: string;
  /** The stream of tasks. */
  tasks: string;
  /** The bucket of the object store. */
  blobs: string;
  /** The stream behind that bucket. */
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
