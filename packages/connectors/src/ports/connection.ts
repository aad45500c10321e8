import { z } from "zod";
import { LineText } from "./person.ts";

/** The state of a connection, for the checks before a call. */
export interface ConnectionStatus {
  /** The user of the connection: a mail address, or the id of a workspace's member. */
  account: string;
  /** `expired`: a refresh can help. `revoked`: the user has to connect again. */
  auth: "valid" | "expired" | "revoked";
  canWrite: boolean;
  /** Null if the server names no limit. */
  rateLimit: { remaining: number; resetsInS: number } | null;
  /** A statement for people about the effect of calls, such as "sent mail stays in the local outbox". Null: none. */
  note: string | null;
}

/** A connection to one service, for one account. */
export interface Connector {
  /** Never calls the server more than once. Throws `network` if it cannot be reached. */
  status(): Promise<ConnectionStatus>;
  /**
   * Obtains fresh access after an `auth` error; the caller then tries once more. Throws `auth` if the user has to connect
   * again. Absent: a refresh cannot help.
   */
  refresh?(): Promise<void>;
}

/**
 * Options of every call that creates or sends. The key makes the call idempotent: the same key again returns the receipt of
 * the first call and does nothing. The same key with another content is a `params` error.
 */
export const ChangeOptions = z.strictObject({ idempotencyKey: LineText.min(1).max(200) });
export type ChangeOptions = z.input<typeof ChangeOptions>;
