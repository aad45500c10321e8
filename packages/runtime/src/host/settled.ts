import { openEntry, type RunRequest, type RunResponse, SettledMessage } from "@troupe/core";
import { heard } from "./heard.ts";
import type { HostWorld } from "./host-world.ts";
import type { World } from "./world.ts";

/** How often whoever waits for a run looks into its journal, in case a message was lost. */
const lookAgainMs = 5_000;

type Ports = Pick<HostWorld, "journal" | "bus" | "subjects" | "clock" | "logger" | "openRunsOf">;
type RunPlace = Pick<RunRequest, "session" | "run">;

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
 * @param meanwhile done at every look that finds the run open, with the index of its newest entry
 */
export async function watchSettled(
  ports: Ports,
  place: RunPlace,
  meanwhile: (lastIndex: number) => Promise<void> = async () => {},
): Promise<SettledWatch> {
  const { bus, subjects, clock, logger } = ports;
  const { session, run } = place;
  const answer = Promise.withResolvers<RunResponse>();
  const lookUp = async (): Promise<void> => {
    try {
      const lastIndex = (await ports.openRunsOf(session)).get(run);
      if (lastIndex !== undefined) return await meanwhile(lastIndex);
      const settled = await readSettled(ports, place);
      if (settled) answer.resolve(settled);
    } catch (error) {
      logger.warn({ session, run, err: error }, "run could not be looked up");
    }
  };
  const subscription = await bus.subscribe(subjects.settled(run), (message) => {
    const response = heard(SettledMessage, message, ports)?.response;
    // Null where the message brings none, or it is not this run's: the journal knows.
    if (response?.runId === run) answer.resolve(response);
    else void lookUp();
  });
  let stopLooking = (): void => {};
  const lookAgain = (): void => {
    // All who wait look at the same moments: what they read is one read then.
    stopLooking = clock.after(lookAgainMs - (clock.monotonicMs() % lookAgainMs), () => {
      lookAgain();
      void lookUp();
    });
  };
  lookAgain();
  return {
    response: answer.promise,
    look: () => void lookUp(),
    close() {
      stopLooking();
      subscription.unsubscribe();
    },
  };
}

/** The response of a run that has ended; null for any other. */
export async function readSettled(
  { journal }: Pick<World, "journal">,
  { session, run }: RunPlace,
): Promise<RunResponse | null> {
  const text = await journal.lastOf(session, run);
  const entry = text === null ? null : openEntry(text);
  return entry?.kind === "run.settled" ? entry.response : null;
}
