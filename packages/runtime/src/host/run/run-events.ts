import type { LiveEvent, RunRequest } from "@troupe/core";
import { encode, protocolVersion } from "@troupe/core/internal";
import type { LiveDetail } from "../effects/effect.ts";
import type { HostDeps } from "../host-deps.ts";

/** What a run says of itself while it happens: to whoever watches it, and to its host's log. Nothing depends on it. */
export class RunEvents {
  readonly #deps: Pick<HostDeps, "bus" | "subjects" | "logger">;
  readonly #request: RunRequest;
  /** Whether the clock of the run is known, to whoever listens, to stand still. */
  #waiting = false;

  constructor(deps: Pick<HostDeps, "bus" | "subjects" | "logger">, request: RunRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  show(detail: LiveDetail): void {
    const { bus, subjects } = this.#deps;
    const { session, run, agent } = this.#request;
    const event = { v: protocolVersion, session, run, agent, ...detail } as LiveEvent;
    const bytes = encode(event);
    if (bytes.byteLength > bus.payloadBytesMax) return; // it comes whole with the outcome
    bus.publish(subjects.live(session, run), bytes);
  }

  /** Tells whether the run's clock stands still; what is known already, only if told to say it anyway. */
  showWaiting(waiting: boolean, { anyway = false } = {}): void {
    if (waiting === this.#waiting && !anyway) return;
    this.#waiting = waiting;
    this.show({ kind: "run.waiting", waiting });
  }

  log(message: string, details: object = {}): void {
    const { session, run, agent } = this.#request;
    this.#deps.logger.info({ session, run, agent, ...details }, message);
  }
}
