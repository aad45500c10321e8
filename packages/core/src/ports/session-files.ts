import type { SessionFileRow } from "../protocol/session-file.ts";

/** Reads and writes the workbench of a session for people. Every method fails with `UNKNOWN_SESSION`. */
export interface SessionFiles {
  /** By name. */
  list(session: string): Promise<SessionFileRow[]>;
  /**
   * Stores a file and replaces the one with the same name. Durable when it resolves. Fails with `TOO_LARGE` for a large file
   * and with `LIMIT_REACHED` for one file too many. A failed upload changes nothing.
   */
  put(session: string, file: { name: string; bytes: Uint8Array; by: string }): Promise<SessionFileRow>;
  /** Fails with `UNKNOWN_FILE`. */
  get(session: string, name: string): Promise<{ name: string; sha256: string; bytes: Uint8Array }>;
}
