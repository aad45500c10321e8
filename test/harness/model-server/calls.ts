import type { IncomingHttpHeaders } from "node:http";
import type { Fault } from "@troupe/models";
import type { Identity } from "./identify.ts";

/** One request, as it came and as it went. */
export interface ServedCall {
  /** Counted from 1, in the order in which they came. */
  number: number;
  method: string;
  path: string;
  /** Headers, with secret values removed. */
  headers: IncomingHttpHeaders;
  /** The parsed body; the raw text if it is not JSON, null if there is none. */
  body: unknown;
  /** The scenario question that this request matched; null for a request that is not a model call. */
  identity: Identity | null;
  /** Identifies a step across its tries; null for a request that is not a model call. */
  question: string | null;
  /** How often this very step was asked for before. */
  triesBefore: number;
  fault: Fault | null;
  /** When it came and when its answer had ended, in ms of `performance.now()`; null while it has not. */
  beganMs: number;
  endedMs: number | null;
  /** HTTP status; null while none was sent. */
  status: number | null;
  /** `lost`: the connection ended before the answer did. */
  outcome: "open" | "answered" | "refused" | "lost";
  /** Why it was refused. */
  refusal: string | null;
}

const secret = /^(authorization|x-api-key|api-key|cookie|proxy-authorization)$/;

/** Set before the last bytes are sent, so that a client with the whole answer finds it answered. */
export function end(call: ServedCall, outcome: Exclude<ServedCall["outcome"], "open">): void {
  call.outcome = outcome;
  call.endedMs = performance.now();
}

/** Every request that a server got. */
export function createCallList() {
  const calls: ServedCall[] = [];
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const look of waiting) look();
  };
  return {
    all: (): readonly ServedCall[] => calls,
    begin(method: string, path: string, headers: IncomingHttpHeaders): ServedCall {
      const call: ServedCall = {
        number: calls.length + 1,
        method,
        path,
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, secret.test(name) ? "(a secret)" : value]),
        ),
        body: null,
        identity: null,
        question: null,
        triesBefore: 0,
        fault: null,
        beganMs: performance.now(),
        endedMs: null,
        status: null,
        outcome: "open",
        refusal: null,
      };
      calls.push(call);
      return call;
    },
    changed,
    /** Resolves as soon as the condition holds. */
    until(isThere: (calls: readonly ServedCall[]) => boolean): Promise<readonly ServedCall[]> {
      return new Promise((resolve) => {
        const look = (): void => {
          if (!isThere(calls)) return;
          waiting.delete(look);
          resolve(calls);
        };
        waiting.add(look);
        look();
      });
    },
  };
}
export type CallList = ReturnType<typeof createCallList>;
