import { z } from "zod";
import { Version } from "./codec.ts";

/** A file of a run's own folder. */
export const FolderFile = z.object({
  /** Relative to the folder, with `/`. */
  path: z.string().min(1),
  /** Hash of its content, which is its key in Blobs. */
  version: z.string(),
  executable: z.literal(true).exactOptional(),
  /** Target of a symbolic link. `version` is then the hash of the target. */
  link: z.string().exactOptional(),
  /** Why the content is not in Blobs. */
  unkept: z.string().exactOptional(),
});
export type FolderFile = z.infer<typeof FolderFile>;

/** The content of an isolated run's folder. It is stored in Blobs, so that any host can rebuild the folder. */
export const FolderFiles = z.object({
  v: Version,
  /** Sorted by path. */
  files: z.array(FolderFile),
  /** Number of files that exceed the limit of the list. */
  unlisted: z.int().nonnegative().default(0),
});
export type FolderFiles = z.infer<typeof FolderFiles>;
