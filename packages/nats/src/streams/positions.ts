/**
 * Places in the feed. A message's last item stands at its sequence times this, its others just before: whoever has a
 * position knows which messages he has whole.
 */
export const itemsPerMessageMax = 4_096;

/** Place of the item that has `after` others behind it in its message. */
export function positionOf(sequence: number, after = 0): number {
  return sequence * itemsPerMessageMax - after;
}

/** The newest message of which a position leaves nothing out. */
export function wholeSequenceAt(position: number): number {
  return Math.floor(position / itemsPerMessageMax);
}

/** The message with whose items the feed goes on after a position. */
export function firstSequenceAfter(position: number): number {
  return wholeSequenceAt(position) + 1;
}
