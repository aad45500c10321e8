import type { RunError } from "@troupe/core";
import { waitMsMax } from "./retry.ts";

/** Health of one model, shared by all agents of a host: a failure of one call holds back the others. */
export interface ModelHealth {
  breaker: CircuitBreaker;
  /** Pauses requests until this time, as the provider asked. Never shortens a longer pause. */
  pauseUntil(untilMs: number): void;
  /** Time until the pause is over; 0 when there is none. */
  pauseMs(nowMs: number): number;
  /** The error of a call that is not to wait for its turn at all; null when it may wait. */
  refusal(model: string, nowMs: number): RunError | null;
}

/** Health by model: rate limits and outages concern one model, not all models of its provider. */
export function createProviderHealth(): (model: string) => ModelHealth {
  const byModel = new Map<string, ModelHealth>();
  return (model) => {
    const health = byModel.get(model) ?? createModelHealth();
    byModel.set(model, health);
    return health;
  };
}

function createModelHealth(): ModelHealth {
  const breaker = createCircuitBreaker();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const pauseMs = (nowMs: number): number => Math.max(0, pausedUntilMs - nowMs);
  return {
    breaker,
    pauseMs,
    pauseUntil(untilMs) {
      pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    },
    refusal(model, nowMs) {
      const refusedUntilMs = breaker.refusedUntilMs(nowMs);
      if (refusedUntilMs !== null) {
        const waitMs = Math.max(refusedUntilMs - nowMs, pauseMs(nowMs));
        return rateLimited(waitMs, `${model} keeps failing: no request is sent to it for another ${seconds(waitMs)}`);
      }
      const waitMs = pauseMs(nowMs);
      if (waitMs <= waitMsMax) return null;
      return rateLimited(waitMs, `the provider of ${model} asked to wait for another ${seconds(waitMs)}`);
    },
  };
}

function rateLimited(waitMs: number, message: string): RunError {
  const retryAfterMs = Math.ceil(waitMs);
  return { type: "rate_limit", message, tool: null, recoverable: true, retryAfterMs, begun: false };
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1_000)} s`;
}

/**
 * A circuit breaker. Closed: requests pass. Open: requests are refused for a time; then one request, the probe, may pass.
 * The probe's outcome closes the breaker, or opens it for twice as long.
 *
 * It is given the time and has no timers. The outcome of a request counts only if the breaker has neither opened nor
 * closed since the request began.
 */
export interface CircuitBreaker {
  /** The time until which requests are refused; null when a request may begin. */
  refusedUntilMs(nowMs: number): number | null;
  /** Begins a request. Call it only after `refusedUntilMs` returned null. */
  begin(nowMs: number): Attempt;
}

/** One request through the breaker. Call exactly one of the methods, once. */
export interface Attempt {
  /** The provider gave a meaningful answer, a refusal included. */
  answered(nowMs: number): void;
  failed(nowMs: number, retryAfterMs: number | null): void;
  /** The request was cancelled on our side, so its outcome is unknown. */
  abandoned(): void;
}

/** Consecutive failures that open the breaker. */
const inARowMax = 10;
/** This many failures among the last `recentCount` requests open it, too. */
const recentFailuresMax = 16;
const recentCount = 20;
/** Outcomes older than a silence of this length no longer count. */
const forgottenAfterMs = 60_000;

const openMs = { first: 10_000, most: 60_000 };

export function createCircuitBreaker(): CircuitBreaker {
  /** Increases whenever the breaker opens, closes or lets a probe pass. Outcomes of an older era are ignored. */
  let era = 0;
  let recent: boolean[] = [];
  let lastMs = 0;
  let open: { untilMs: number; forMs: number; probed: boolean } | null = null;

  const openFor = (forMs: number, nowMs: number, retryAfterMs: number | null): void => {
    era += 1;
    recent = [];
    open = { untilMs: nowMs + Math.max(forMs, retryAfterMs ?? 0), forMs, probed: false };
  };
  const close = (): void => {
    era += 1;
    recent = [];
    open = null;
  };
  const note = (isFailure: boolean, nowMs: number): void => {
    if (nowMs - lastMs > forgottenAfterMs) recent = [];
    lastMs = nowMs;
    recent = [...recent, isFailure].slice(-recentCount);
  };

  return {
    refusedUntilMs(nowMs) {
      if (open === null) return null;
      // The duration of the probe is unknown: refuse for as long as a failed probe would have kept the breaker open.
      if (open.probed) return Math.max(open.untilMs, nowMs) + open.forMs;
      return nowMs < open.untilMs ? open.untilMs : null;
    },
    begin() {
      if (open !== null) {
        open.probed = true;
        era += 1;
      }
      const begunIn = era;
      const ifCurrent =
        <A extends unknown[]>(count: (...args: A) => void) =>
        (...args: A): void => {
          if (begunIn === era) count(...args);
        };
      return {
        answered: ifCurrent((nowMs) => (open === null ? note(false, nowMs) : close())),
        failed: ifCurrent((nowMs, retryAfterMs) => {
          if (open !== null) return openFor(Math.min(openMs.most, open.forMs * 2), nowMs, retryAfterMs);
          note(true, nowMs);
          if (isDown(recent)) openFor(openMs.first, nowMs, retryAfterMs);
        }),
        abandoned: ifCurrent(() => {
          if (open !== null) open.probed = false;
        }),
      };
    },
  };
}

function isDown(recent: readonly boolean[]): boolean {
  const inARow = recent.length - 1 - recent.lastIndexOf(false);
  return inARow >= inARowMax || recent.filter((isFailure) => isFailure).length >= recentFailuresMax;
}
