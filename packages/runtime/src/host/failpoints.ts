/** The moments at which a crash loses the most. Tests kill the process there (docs/reliability.md). */
export type Failpoint =
  | "claim:before"
  | "claim:after"
  | "intent:before"
  | "intent:after"
  | "effect:before"
  | "effect:after"
  | "append:before"
  | "append:after"
  | "settle:before"
  | "settle:after"
  | "ack:before"
  | "ack:after";

/**
 * Called at each failpoint while a host works. Durability tests use it to write a ledger that survives the process, or
 * to kill the process. It must not throw.
 *
 * @example
 * const failpoint: FailpointHook = {
 *   at(point, { run }) {
 *     if (point === "append:after") console.log(`${run} was stored`);
 *   },
 * };
 */
export interface FailpointHook {
  at(point: Failpoint, detail: { run: string; key: string }): void;
}

/** A hook that does nothing. */
export const noFailpoints: FailpointHook = { at() {} };
