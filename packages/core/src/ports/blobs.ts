/**
 * Stores bodies that are too large for a message, by the hash of their bytes. A read returns the exact bytes or fails.
 *
 * @example
 * const hash = await blobs.put(bytes);
 * await blobs.get(hash); // the same bytes
 */
export interface Blobs {
  /** Stores bytes and returns their hex SHA-256. Storing the same bytes again changes nothing. */
  put(bytes: Uint8Array): Promise<string>;
  /** Null if there is no such blob. Throws `DATABASE_DAMAGED` if the stored bytes do not match their hash. */
  get(hash: string): Promise<Uint8Array | null>;
}
