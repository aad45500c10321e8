/** How long one call may search. */
export const searchTimeoutMs = 30_000;

const unreadableShown = 3;

/** What could not be looked into, as a note on an answer that is whole but for that. */
export function noteOnUnreadable(unreadable: readonly string[]): string[] {
  if (unreadable.length === 0) return [];
  const some = unreadable.slice(0, unreadableShown).join("; ");
  const more = unreadable.length > unreadableShown ? `; and ${unreadable.length - unreadableShown} more` : "";
  return [`[could not be read: ${some}${more}]`];
}

/** A text as a regular expression that finds just it. */
export function escapedForSearch(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
