/** Moments of a delegation at which a process may die. */
export const failpoints = [
  "claim:before",
  "claim:after",
  "intent:before",
  "intent:after",
  "effect:before",
  "effect:after",
  "append:before",
  "append:after",
  "settle:before",
  "settle:after",
  "ack:before",
  "ack:after",
] as const;
export type Failpoint = (typeof failpoints)[number];
