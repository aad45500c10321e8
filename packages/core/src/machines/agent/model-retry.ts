import { hashText } from "../../protocol/hash.ts";
import type { RunError } from "../../protocol/run-error.ts";
import type { AgentContext } from "./context.ts";
import type { AgentEvent } from "./events.ts";

/** The most requests for one turn, including the retries of the layers below. */
const modelTriesMax = 5;

const backoffBaseMs = 1_000;
const backoffMaxMs = 60_000;

/** Whether the provider asks to wait. Such a call is repeated without a limit: waiting is not a failure of the run. */
export function isRateLimited({ step }: AgentContext, event: AgentEvent): boolean {
  if (event.type !== "model.failed" || event.step !== step) return false;
  const { type, recoverable } = event.error;
  return type === "rate_limit" && recoverable && wasNotCharged(event.error);
}

/** Whether the call failed in a temporary way and another try is left. */
export function canRetryModel({ step, modelTries }: AgentContext, event: AgentEvent): boolean {
  if (event.type !== "model.failed" || event.step !== step) return false;
  const { type, recoverable } = event.error;
  const isTemporary = type === "network" || type === "timeout" || type === "rate_limit";
  return isTemporary && recoverable && modelTries + triesOf(event.error) < modelTriesMax;
}

/** The number of requests that this failure stands for. */
export function triesOf({ tries = 1 }: RunError): number {
  return tries;
}

/** Whether the call was refused before the model began to work, so that the provider cannot have charged it. */
export function wasNotCharged({ type, begun }: RunError): boolean {
  if (begun !== undefined) return !begun;
  return type === "rate_limit" || type === "auth" || type === "params" || type === "permission" || type === "budget";
}

/**
 * The wait before the model call is repeated: the time that the provider asks for, else exponential backoff. The jitter
 * comes from the run's ids alone: runs that failed together spread out, and a replay waits the same.
 */
export function backoffAfter(
  { request, step, backoff, modelTries }: Pick<AgentContext, "request" | "step" | "backoff" | "modelTries">,
  error: RunError,
): AgentContext["backoff"] {
  const { type, message, retryAfterMs } = error;
  const count = backoff.count + 1;
  const ceilingMs = Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(backoff.count, 10));
  const jitter = Number.parseInt(hashText(`${request.run}/${step}/${count}`).slice(0, 8), 16) / 2 ** 32;
  const triesMax = type === "rate_limit" && wasNotCharged(error) ? null : modelTriesMax;
  return {
    count,
    delayMs: retryAfterMs ?? Math.round((ceilingMs / 2) * (1 + jitter)),
    retry: { type, message, tries: Math.max(1, modelTries), triesMax },
  };
}

/** Name of the timer after which the model call is repeated. */
export function backoffTimer({ step, backoff }: Pick<AgentContext, "step" | "backoff">): string {
  return `rate/${step}/${backoff.count}`;
}
