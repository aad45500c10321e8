/**
 * Positions in the journal's feed. The last item of a message has the message's sequence times this constant, and the
 * items before it have the positions just below. So a position tells which messages it covers completely.
 */
export const itemsPerMessageMax = 4_096;

/** Position of an item with `after` more items behind it in the same message. */
export function positionOf(sequence: number, after = 0): number {
  return sequence * itemsPerMessageMax - after;
}

/** The newest message of which all items are at or before a position. */
export function wholeSequenceAt(position: number): number {
  return Math.floor(position / itemsPerMessageMax);
}

/** The message with the first items after a position. */
export function firstSequenceAfter(position: number): number {
  return wholeSequenceAt(position) + 1;
}
