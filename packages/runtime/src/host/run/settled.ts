import type { Entry, RunRequest, RunResponse } from "@troupe/core";
import { encode, openEntry, protocolVersion, SettledMessage } from "@troupe/core/internal";
import { decodeMessage } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import type { RunDeps } from "../run-deps.ts";

/** How often a watch reads the journal, in case a message got lost: for queues without leases. */
const readAgainMsDefault = 5_000;

type SettledPorts = Pick<RunDeps, "journal" | "bus" | "subjects" | "clock" | "logger" | "openRunsOf"> &
  Partial<Pick<RunDeps, "leaseMs" | "invalidMessages">>;
type RunKey = Pick<RunRequest, "session" | "run">;

/** Publishes the response of a run. If it exceeds the payload limit, the receiver reads it from the journal. */
export function announceSettled({ bus, subjects }: Pick<HostDeps, "bus" | "subjects">, response: RunResponse): void {
  const message = { v: protocolVersion, kind: "run.settled", session: response.sessionId, run: response.runId };
  const bytes = encode({ ...message, response });
  const fits = bytes.byteLength <= bus.payloadBytesMax;
  bus.publish(subjects.settled(response.runId), fits ? bytes : encode({ ...message, response: null }));
}

/** Called when a watch has read the journal and found no response. */
export interface UnsettledHooks {
  /** The run has started. */
  onOpen?(lastIndex: number): Promise<void>;
  /** The run has no entries: no host has started it. */
  onUnopened?(): Promise<void>;
}

/** A watch for the response of a run. */
export interface SettledWatch {
  /** Never rejects. Stays pending as long as the run is open. */
  response: Promise<RunResponse>;
  /** Reads the journal now. */
  check(): void;
  close(): void;
}

/**
 * Watches for the response of a run: on the bus, and in the journal for a response that the bus lost or could not carry.
 * Resolves once the subscription is active, so a run that is offered afterwards is not missed.
 *
 * With leases, a lost message delays the response by at most half a lease.
 */
export async function watchSettled(
  ports: SettledPorts,
  key: RunKey,
  hooks: UnsettledHooks = {},
): Promise<SettledWatch> {
  const { bus, subjects, clock, logger } = ports;
  const { session, run } = key;
  const readAgainMs = ports.leaseMs === undefined ? readAgainMsDefault : ports.leaseMs / 2;
  const settled = Promise.withResolvers<RunResponse>();
  const resolveIfSettled = async (): Promise<void> => {
    const last = await lastOf(ports, key);
    if (last?.kind === "run.settled") settled.resolve(last.response);
    else if (!last) await hooks.onUnopened?.();
  };
  const readJournal = async (): Promise<void> => {
    const lastIndex = (await ports.openRunsOf(session)).get(run);
    await (lastIndex === undefined ? resolveIfSettled() : hooks.onOpen?.(lastIndex));
  };
  const attempt = (read: () => Promise<void>): void => {
    read().catch((err: unknown) => logger.warn({ session, run, err }, "run could not be looked up"));
  };
  const subscription = await bus.subscribe(subjects.settled(run), (message) => {
    const response = decodeMessage(SettledMessage, message, ports)?.response;
    // Without a response, or with that of another run, the journal has the answer.
    if (response?.runId === run) settled.resolve(response);
    else attempt(resolveIfSettled);
  });
  let stopReading = (): void => {};
  const readAgain = (): void => {
    // All watches read at the same moments, so that their reads are merged into one.
    stopReading = clock.after(readAgainMs - (clock.monotonicMs() % readAgainMs), () => {
      readAgain();
      attempt(readJournal);
    });
  };
  readAgain();
  return {
    response: settled.promise,
    check: () => attempt(readJournal),
    close() {
      stopReading();
      subscription.unsubscribe();
    },
  };
}

/** The response of a settled run; null for a run that is open or unknown. */
export async function readSettled(ports: Pick<HostDeps, "journal">, key: RunKey): Promise<RunResponse | null> {
  const last = await lastOf(ports, key);
  return last?.kind === "run.settled" ? last.response : null;
}

/** Whether the journal has an unsettled run of this id. */
export async function isOpenRun(ports: Pick<HostDeps, "journal">, key: RunKey): Promise<boolean> {
  const last = await lastOf(ports, key);
  return last !== null && last.kind !== "run.settled";
}

async function lastOf({ journal }: Pick<HostDeps, "journal">, { session, run }: RunKey): Promise<Entry | null> {
  const text = await journal.lastOf(session, run);
  return text === null ? null : openEntry(text);
}
