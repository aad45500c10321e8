import { type Entry, TroupeError } from "@troupe/core";
import { decode, encode, leaseMsDefault, protocolVersion, RunHolderReply } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";

/** How often the holder is asked before it counts as gone. */
const queriesMax = 3;

/** Share of a lease for all queries together. With the wait for a redelivery, a takeover takes less than 1.5 leases. */
const queryShare = 0.4;

type HolderQueryPorts = Pick<HostDeps, "bus" | "subjects" | "clock" | "hostId" | "leaseMs">;

/**
 * Asks the host that wrote a run's newest entry whether it still holds the run. A redelivered task does not prove that
 * the host is dead. An answer is trusted either way. Without an answer the host is asked three times, so that a short
 * loss of its connection does not cost it the run. An earlier process of this host does not hold the run.
 *
 * Fails with `UNREACHABLE` if this host has no connection.
 */
export async function isHeldElsewhere(ports: HolderQueryPorts, last: Entry): Promise<boolean> {
  if (last.host === ports.hostId || last.kind === "run.parked") return false;
  const { clock, leaseMs = leaseMsDefault } = ports;
  const timeoutMs = Math.max(1, Math.floor((leaseMs * queryShare) / queriesMax));
  for (let query = 1; query <= queriesMax; query += 1) {
    const sentMs = clock.monotonicMs();
    const answer = await queryHolder(ports, last, timeoutMs);
    if (answer !== null) return answer;
    const leftMs = timeoutMs - (clock.monotonicMs() - sentMs);
    if (query < queriesMax && leftMs > 0) await new Promise<void>((resolve) => clock.after(leftMs, resolve));
  }
  return false;
}

/** Null if no host answers. */
async function queryHolder(
  { bus, subjects }: HolderQueryPorts,
  last: Entry,
  timeoutMs: number,
): Promise<boolean | null> {
  const { session, run, epoch, host } = last;
  const query = encode({ v: protocolVersion, kind: "run.asked", session, run, epoch });
  try {
    const answer = decode(RunHolderReply, await bus.request(subjects.control(host), query, { timeoutMs }), "answer");
    return answer.run === run ? answer.holds : null;
  } catch (error) {
    if (TroupeError.is(error) && noAnswer.has(error.code)) return null;
    throw error;
  }
}

/** Error codes of a query without a valid answer. */
const noAnswer: ReadonlySet<string> = new Set(["NO_RESPONDERS", "TIMEOUT", "INVALID_MESSAGE"]);
