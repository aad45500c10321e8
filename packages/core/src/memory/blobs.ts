import type { Blobs } from "../ports/blobs.ts";
import { hashBytes } from "../protocol/hash.ts";

/** Blobs that are gone with their process. For unit tests only. */
export function createMemoryBlobs(): Blobs {
  const stored = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const hash = hashBytes(bytes);
      // Not slice(): that of a Buffer shares its memory.
      stored.set(hash, new Uint8Array(bytes));
      return hash;
    },
    async get(hash) {
      return stored.get(hash)?.slice() ?? null;
    },
  };
}
