import { type Entry, TroupeError } from "@troupe/core";
import { decode, encode, leaseMsDefault, protocolVersion, RunHolderReply } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";

/** So often a host is asked whether it still holds a run, before it is taken for gone. */
const asks = 3;

/** All asks together take at most this share of a lease: with the wait for a redelivery a takeover stays below 1.5. */
const askShare = 0.4;

type Ports = Pick<HostDeps, "bus" | "subjects" | "clock" | "hostId" | "leaseMs">;

/**
 * Whether the host that wrote a run's newest entry still holds the run: a task that is handed out again is no proof of a
 * death. Whoever says so is believed, either way; whoever says nothing, or is not there, is asked three times, so that a
 * host that only lost its connection for a moment is not robbed. An earlier life of this host under its own name is
 * nobody. Fails with `UNREACHABLE` when there is no connection to ask over.
 */
export async function isHeldElsewhere(ports: Ports, last: Entry): Promise<boolean> {
  if (last.host === ports.hostId || last.kind === "run.parked") return false;
  const { clock, leaseMs = leaseMsDefault } = ports;
  const waitMs = Math.max(1, Math.floor((leaseMs * askShare) / asks));
  for (let ask = 1; ask <= asks; ask += 1) {
    const askedMs = clock.monotonicMs();
    const answer = await askHolder(ports, last, waitMs);
    if (answer !== null) return answer;
    const leftMs = waitMs - (clock.monotonicMs() - askedMs);
    if (ask < asks && leftMs > 0) await new Promise<void>((resolve) => clock.after(leftMs, resolve));
  }
  return false;
}

/** Null where nobody answers. */
async function askHolder({ bus, subjects }: Ports, last: Entry, timeoutMs: number): Promise<boolean | null> {
  const { session, run, epoch, host } = last;
  const question = encode({ v: protocolVersion, kind: "run.asked", session, run, epoch });
  try {
    const answer = decode(RunHolderReply, await bus.request(subjects.control(host), question, { timeoutMs }), "answer");
    return answer.run === run ? answer.holds : null;
  } catch (error) {
    if (TroupeError.is(error) && silences.has(error.code)) return null;
    throw error;
  }
}

/** What cannot be read is no answer either. */
const silences: ReadonlySet<string> = new Set(["NO_RESPONDERS", "TIMEOUT", "INVALID_MESSAGE"]);
