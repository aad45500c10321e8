import type { Blobs } from "../ports/blobs.ts";
import { hashBytes } from "../protocol/hash.ts";

/** Blobs in memory, for unit tests. */
export function createMemoryBlobs(): Blobs {
  const stored = new Map<string, Uint8Array>();
  return {
    async put(bytes) {
      const hash = hashBytes(bytes);
      // Not slice(): for a Buffer it shares the memory.
      stored.set(hash, new Uint8Array(bytes));
      return hash;
    },
    async get(hash) {
      return stored.get(hash)?.slice() ?? null;
    },
  };
}
