import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Blobs, TroupeError } from "@troupe/core";
import { syncFolder, writeFileAtomic } from "./atomic-write.ts";

/**
 * Stores blobs as files, named by their hash, in 256 folders by its first two characters. A blob is durable when `put`
 * resolves.
 *
 * @example
 * const blobs = createFolderBlobs({ folder: "/tmp/blobs" });
 * const hash = await blobs.put(new TextEncoder().encode("hello"));
 * await blobs.get(hash); // the same bytes
 */
export function createFolderBlobs({ folder }: { folder: string }): Blobs {
  const pathOf = (hash: string): string => join(folder, hash.slice(0, 2), hash);
  return {
    async put(bytes) {
      const hash = sha256(bytes);
      const path = pathOf(hash);
      // Comparing the bytes instead of only the name repairs a damaged blob.
      if ((await readOrNull(path))?.equals(bytes)) return hash;
      const created = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, bytes, { mode: 0o600 });
      if (created) await syncFolder(folder);
      return hash;
    },
    async get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const bytes = await readOrNull(pathOf(hash));
      if (bytes && sha256(bytes) !== hash) throw damaged(pathOf(hash));
      return bytes;
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function readOrNull(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function damaged(path: string): TroupeError {
  return new TroupeError("DATABASE_DAMAGED", `the content of the blob ${path} does not match its hash`, {
    fix: "restore that file from a backup, or remove it",
  });
}
