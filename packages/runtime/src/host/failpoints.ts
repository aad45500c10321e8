/** The moments at which a process may be killed with the most to lose (RELIABILITY K1). */
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
 * Looks on while a host works. For tests of durability: a probe may write a ledger that survives the process, or kill
 * the process on the spot. It must not throw.
 */
export interface FailpointHook {
  at(point: Failpoint, detail: { run: string; key: string }): void;
}

export const noFailpoints: FailpointHook = { at() {} };
