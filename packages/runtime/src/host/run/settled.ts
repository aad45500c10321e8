import type { Entry, RunRequest, RunResponse } from "@troupe/core";
import { openEntry, SettledMessage } from "@troupe/core/internal";
import { decodeMessage } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import type { RunDeps } from "../run-deps.ts";

/** How often whoever waits for a run looks into its journal, in case a message was lost: where there are no leases. */
const lookAgainMsDefault = 5_000;

type Ports = Pick<RunDeps, "journal" | "bus" | "subjects" | "clock" | "logger" | "openRunsOf"> &
  Partial<Pick<RunDeps, "leaseMs" | "invalidMessages">>;
type RunPlace = Pick<RunRequest, "session" | "run">;

/** What is done at a look that finds no response. */
export interface Meanwhile {
  /** The run is open; with the index of its newest entry. */
  open?(lastIndex: number): Promise<void>;
  /** Nobody has begun it yet. */
  unbegun?(): Promise<void>;
}

/** Somebody who waits for a run's one response. */
export interface SettledWatch {
  /** Never rejects; stays open for as long as the run does. */
  response: Promise<RunResponse>;
  /** Looks into the journal now. */
  look(): void;
  close(): void;
}

/**
 * Waits for a run's one response, from now on: on the bus, and in the journal for what the bus may have lost or could
 * not carry. Resolves once it listens, so that nothing is missed of a run that is offered afterwards.
 *
 * Half a lease after a message was lost the journal has said what it said.
 */
export async function watchSettled(ports: Ports, place: RunPlace, meanwhile: Meanwhile = {}): Promise<SettledWatch> {
  const { bus, subjects, clock, logger } = ports;
  const { session, run } = place;
  const lookAgainMs = ports.leaseMs === undefined ? lookAgainMsDefault : ports.leaseMs / 2;
  const answer = Promise.withResolvers<RunResponse>();
  const resolveIfSettled = async (): Promise<void> => {
    const last = await lastOf(ports, place);
    if (last?.kind === "run.settled") answer.resolve(last.response);
    else if (!last) await meanwhile.unbegun?.();
  };
  const lookUp = async (): Promise<void> => {
    const lastIndex = (await ports.openRunsOf(session)).get(run);
    await (lastIndex === undefined ? resolveIfSettled() : meanwhile.open?.(lastIndex));
  };
  const attempt = (look: () => Promise<void>): void => {
    look().catch((err: unknown) => logger.warn({ session, run, err }, "run could not be looked up"));
  };
  const subscription = await bus.subscribe(subjects.settled(run), (message) => {
    const response = decodeMessage(SettledMessage, message, ports)?.response;
    // Null where the message brings none, or it is not this run's: the journal knows.
    if (response?.runId === run) answer.resolve(response);
    else attempt(resolveIfSettled);
  });
  let stopLooking = (): void => {};
  const lookAgain = (): void => {
    // All who wait look at the same moments: what they read is one read then.
    stopLooking = clock.after(lookAgainMs - (clock.monotonicMs() % lookAgainMs), () => {
      lookAgain();
      attempt(lookUp);
    });
  };
  lookAgain();
  return {
    response: answer.promise,
    look: () => attempt(lookUp),
    close() {
      stopLooking();
      subscription.unsubscribe();
    },
  };
}

/** The response of a run that has ended; null for any other. */
export async function readSettled(ports: Pick<HostDeps, "journal">, place: RunPlace): Promise<RunResponse | null> {
  const last = await lastOf(ports, place);
  return last?.kind === "run.settled" ? last.response : null;
}

/** Whether nobody will ever go on with a run. */
export async function isOver(ports: Pick<HostDeps, "journal">, place: RunPlace): Promise<boolean> {
  const last = await lastOf(ports, place);
  return last === null || last.kind === "run.settled";
}

async function lastOf({ journal }: Pick<HostDeps, "journal">, { session, run }: RunPlace): Promise<Entry | null> {
  const text = await journal.lastOf(session, run);
  return text === null ? null : openEntry(text);
}
