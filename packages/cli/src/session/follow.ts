import { setTimeout as delay } from "node:timers/promises";
import { type RunResponse, TroupeError } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import {
  type ClientEvent,
  isOutOfReach,
  isSettled,
  responseOrNull,
  sessionOrNull,
  type TroupeClient,
} from "./client.ts";

export interface FollowOptions {
  client: TroupeClient;
  session: string;
  /** The first run of the turn that is followed: the session may have settled before, and its record lag behind. */
  run: string;
  /** Position of the record before the session was submitted. */
  position: number;
  /** Ends the following before the session has settled. */
  until?: AbortSignal;
  /** Hears everything, `resync` already turned into the rows as they are. */
  onEvent(event: Exclude<ClientEvent, { type: "resync" }>): void;
  /** Whether the owner that took the session still has the home: a broken connection to it is worth another try. */
  isOwnerAlive(): Promise<boolean>;
}

/** Connections in a row that may end without an event before their owner counts as out of reach. */
const failuresMax = 8;
const retryMs = 150;

/**
 * Follows a session until its turn has settled, and returns its response; null when `until` came first. Survives a connection
 * that breaks, and fails with `UNREACHABLE` when the owner is gone.
 */
export async function followSession(options: FollowOptions): Promise<RunResponse | null> {
  const { client, session, run, until = new AbortController().signal } = options;
  let { position } = options;
  let failures = 0;

  const settledBy = (change: RecordChange): boolean => {
    failures = 0;
    position = Math.max(position, change.position);
    options.onEvent({ type: "change", change });
    return change.sessions.some((row) => row.session === session && row.rootRun === run && isSettled(row.status));
  };
  const reload = async (): Promise<boolean> => {
    const detail = await sessionOrNull(client, session);
    return detail !== null && settledBy({ ...detail, sessions: [detail.session] });
  };
  const listen = async (): Promise<boolean> => {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, until]);
    try {
      for await (const event of client.events({ session, after: position, signal })) {
        if (event.type === "live") options.onEvent(event);
        else if (event.type === "resync" ? await reload() : settledBy(event.change)) return true;
      }
      return false;
    } finally {
      stop.abort();
    }
  };

  for (;;) {
    try {
      if (await listen()) return await settledResponse(client, { session, run });
      if (until.aborted) return null;
      // An owner that closes ends its streams politely: it is gone, or there is more.
      if (await reload()) return await settledResponse(client, { session, run });
      failures += 1;
      if (failures > failuresMax) throw new TroupeError("CLOSED", "the event stream keeps ending");
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
      failures += 1;
      if (failures > failuresMax || !(await options.isOwnerAlive())) throw error;
    }
    await delay(retryMs * failures);
  }
}

const responseTries = 40;

/** The response may come a moment after the row that says it is there. */
async function settledResponse(
  client: TroupeClient,
  { session, run }: Pick<FollowOptions, "session" | "run">,
): Promise<RunResponse> {
  for (let attempt = 1; attempt <= responseTries; attempt += 1) {
    const response = await responseOrNull(client, session);
    if (response?.runId === run) return response;
    await delay(50);
  }
  throw new TroupeError("INTERNAL", `session ${session} has settled without a response`, { fix: "troupe doctor" });
}
