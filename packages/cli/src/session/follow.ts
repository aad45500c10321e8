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
  /** Root run of the followed turn. An earlier turn of the session can have settled, and the record can lag behind. */
  run: string;
  /** The record's position before the submission. */
  position: number;
  /** Stops before the session has settled. */
  until?: AbortSignal;
  /** Called for every event. A `resync` arrives as a change with the current rows. */
  onEvent(event: Exclude<ClientEvent, { type: "resync" }>): void;
  /** True if the owner that accepted the session still owns the home, so that a reconnect makes sense. */
  isOwnerAlive(): Promise<boolean>;
}

/** Connections without an event in a row before the owner counts as unreachable. */
const failuresMax = 8;
const retryMs = 150;

/**
 * Follows a session until its turn has settled, and returns the response; null if `until` aborts first. Reconnects after a
 * broken connection, and rejects with `UNREACHABLE` if the owner is gone.
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
      // A closing owner ends its streams without an error. The session may have settled by now.
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

/** Waits for the response, which can arrive shortly after the settled row. */
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
