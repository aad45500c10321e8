import { join } from "node:path";
import type { Blobs, Clock } from "@troupe/core";
import { z } from "zod";
import { keyOf, openMemoryFiles, workspaceKey } from "./memory-files.ts";

export const workbenchFilesMax = 1_000;

const UploadedFile = z.object({
  name: z.string(),
  ref: z.string(),
  bytes: z.int().nonnegative(),
  workspace: z.string(),
  /** Null: a person uploaded it. */
  run: z.string().nullable(),
  /** The person's name. */
  by: z.string().nullable().default(null),
  at: z.iso.datetime(),
});
export type UploadedFile = z.infer<typeof UploadedFile>;

/** The author of an upload: a run or a person. */
export type Uploader = { run: string } | { by: string };

/** The lists of files of all workbenches on this machine. The contents are blobs. */
export interface WorkbenchStore {
  find(session: string, name: string): Promise<UploadedFile | null>;
  /** In no order. */
  list(session: string): Promise<UploadedFile[]>;
  /** Stores the content first, so a listed file always has its content. Null: the workbench is full. */
  put(
    file: { session: string; name: string; bytes: Uint8Array; workspace: string },
    uploader: Uploader,
  ): Promise<UploadedFile | null>;
}

export interface WorkbenchStoreOptions {
  memoryFolder: string;
  blobs: Pick<Blobs, "put">;
  clock: Clock;
}

export function openWorkbenchStore({ memoryFolder, blobs, clock }: WorkbenchStoreOptions): WorkbenchStore {
  const files = openMemoryFiles(memoryFolder, UploadedFile);
  const folderOf = (session: string): string[] => ["workbench", session];
  return {
    find: (session, name) => files.get(folderOf(session), name),
    list: (session) => files.all(folderOf(session)),
    async put({ session, name, bytes, workspace }, uploader) {
      const folder = folderOf(session);
      const isNew = (await files.get(folder, name)) === null;
      if (isNew && (await files.count(folder)) >= workbenchFilesMax) return null;
      const ref = await blobs.put(bytes);
      const uploaded: UploadedFile = {
        ...{ name, ref, bytes: bytes.byteLength, workspace: await workspaceKey(workspace) },
        ...{ run: null, by: null, ...uploader },
        at: new Date(clock.now()).toISOString(),
      };
      await files.put(folder, name, uploaded);
      return uploaded;
    },
  };
}

/**
 * The folder with the list of a session's files.
 *
 * @example
 * workbenchFolder("/tmp/memory", session); // goes with the session when that is removed
 */
export function workbenchFolder(memoryFolder: string, session: string): string {
  return join(memoryFolder, keyOf("workbench"), keyOf(session));
}
