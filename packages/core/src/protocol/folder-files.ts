import { z } from "zod";
import { Version } from "./version.ts";

/** A file of a run's own folder. */
export const FolderFile = z.object({
  /** Relative to the folder, with `/`. */
  path: z.string().min(1),
  /** Hash of its content: by it the content is in Blobs, unless `unkept` says why not. */
  version: z.string(),
  executable: z.literal(true).exactOptional(),
  /** Where it leads, of a symbolic link; `version` is the hash of that then. */
  link: z.string().exactOptional(),
  unkept: z.string().exactOptional(),
});
export type FolderFile = z.infer<typeof FolderFile>;

/** What is in the folder of an isolated run: from this, kept in Blobs, any host makes the folder anew. */
export const FolderFiles = z.object({
  v: Version,
  /** By path, in order. */
  files: z.array(FolderFile),
  /** Files beyond those that can be listed. */
  unlisted: z.int().nonnegative().default(0),
});
export type FolderFiles = z.infer<typeof FolderFiles>;
