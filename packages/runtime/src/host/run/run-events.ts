import type { Entry, LiveEvent, RunRequest } from "@troupe/core";
import { encode, protocolVersion, type TraceEvent } from "@troupe/core/internal";
import type { LiveDetail } from "../effects/effect.ts";
import type { HostDeps } from "../host-deps.ts";

/** Publishes a run's live events and writes its log lines. Both may get lost: no state depends on them. */
export class RunEvents {
  readonly #deps: Pick<HostDeps, "bus" | "subjects" | "logger">;
  readonly #request: RunRequest;
  /** The last published answer to: does the run's clock stand still? */
  #waiting = false;

  constructor(deps: Pick<HostDeps, "bus" | "subjects" | "logger">, request: RunRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  publish(detail: LiveDetail): void {
    const { bus, subjects } = this.#deps;
    const { session, run, agent } = this.#request;
    const event = { v: protocolVersion, session, run, agent, ...detail } as LiveEvent;
    const bytes = encode(event);
    // The outcome of the effect carries the same content, so an event that is too large can be dropped.
    if (bytes.byteLength > bus.payloadBytesMax) return;
    bus.publish(subjects.live(session, run), bytes);
  }

  /** Publishes whether the run's clock stands still, if that has changed or `always` is set. */
  publishWaiting(waiting: boolean, { always = false } = {}): void {
    if (waiting === this.#waiting && !always) return;
    this.#waiting = waiting;
    this.publish({ kind: "run.waiting", waiting });
  }

  /** Logs the trace events of a durable entry, and publishes them. */
  trace(entry: Entry): void {
    for (const event of traceEventsOf(entry)) {
      const { session, run, agent } = this.#request;
      this.#deps.logger[event.level]({ session, run, agent, ...event.fields, event: event.name }, event.name);
      this.publish({ kind: "trace.event", event });
    }
  }

  log(message: string, details: object = {}): void {
    const { session, run, agent } = this.#request;
    this.#deps.logger.info({ session, run, agent, ...details }, message);
  }
}

/** The events that an entry adds to the trace: those of a tool call, and those of a check. */
function traceEventsOf(entry: Entry): readonly TraceEvent[] {
  if (entry.kind === "tool.finished") return entry.outcome.events ?? [];
  return "events" in entry ? (entry.events ?? []) : [];
}
