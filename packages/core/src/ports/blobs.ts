/** Bodies too large for a message, by the hash of their bytes. What was put can be got, unchanged, or not at all. */
export interface Blobs {
  /** Returns the hex SHA-256 of the bytes. Putting the same twice is putting it once. */
  put(bytes: Uint8Array): Promise<string>;
  /** Null when there is no such blob; throws `DATABASE_DAMAGED` when the stored bytes do not fit their hash. */
  get(hash: string): Promise<Uint8Array | null>;
}
