import { createHash } from "node:crypto";
import type { Blobs } from "@troupe/core";
import { canonicalJson, decode, encode, FolderFiles, protocolVersion } from "@troupe/core/internal";

/** What a run's folder begins with where nobody gave it anything. */
export const emptyList: FolderFiles = { v: protocolVersion, files: [], unlisted: 0 };

/** Keeps a list of files where every host finds it. */
export function putList(blobs: Pick<Blobs, "put">, list: FolderFiles): Promise<string> {
  return blobs.put(encode(list));
}

/** The list that was kept under a hash; null where it is not there any more, or is damaged. */
export async function getList(blobs: Pick<Blobs, "get">, ref: string | null): Promise<FolderFiles | null> {
  if (ref === null) return emptyList;
  const bytes = await getVerified(blobs, ref);
  return bytes && decode(FolderFiles, bytes, "list of a folder's files");
}

/** The bytes of a hash; null for what is not there, and for what does not fit its hash: neither can be used. */
export async function getVerified(blobs: Pick<Blobs, "get">, hash: string): Promise<Uint8Array | null> {
  const bytes = await blobs.get(hash).catch((error: unknown) => {
    if (isDamage(error)) return null;
    throw error;
  });
  return bytes && createHash("sha256").update(bytes).digest("hex") === hash ? bytes : null;
}

function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "DATABASE_DAMAGED";
}

/** Whether two lists say the same of a folder. */
export function isSameList(a: FolderFiles, b: FolderFiles): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
