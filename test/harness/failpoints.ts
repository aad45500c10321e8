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

/** So many of them, of every kind as far as possible; the first one is chosen by the seed. */
export function someFailpoints(count: number, seed: number): readonly Failpoint[] {
  const everyNth = Math.max(1, Math.floor(failpoints.length / count));
  return failpoints.filter((_, i) => (i + seed) % everyNth === 0).slice(0, count);
}
