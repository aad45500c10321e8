/** The moments at which a process may be killed with the most to lose (RELIABILITY K1). */
export type ProbePoint =
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
export interface Probe {
  at(point: ProbePoint, detail: { run: string; key: string }): void;
}

export const noProbe: Probe = { at() {} };
