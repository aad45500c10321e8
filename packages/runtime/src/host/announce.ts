import type { RunResponse } from "@troupe/core";
import { encode, protocolVersion } from "@troupe/core/internal";
import type { HostDeps } from "./host-deps.ts";

/** Sends a run's one response to whoever waits. One that does not fit a message is read from the journal instead. */
export function announceSettled({ bus, subjects }: Pick<HostDeps, "bus" | "subjects">, response: RunResponse): void {
  const message = { v: protocolVersion, kind: "run.settled", session: response.sessionId, run: response.runId };
  const bytes = encode({ ...message, response });
  const fits = bytes.byteLength <= bus.payloadBytesMax;
  bus.publish(subjects.settled(response.runId), fits ? bytes : encode({ ...message, response: null }));
}

/** Tells all hosts that a session's inbox has something new. */
export function announceInbox({ bus, subjects }: Pick<HostDeps, "bus" | "subjects">, session: string): void {
  bus.publish(subjects.control("all"), encode({ v: protocolVersion, kind: "inbox.announced", session }));
}
