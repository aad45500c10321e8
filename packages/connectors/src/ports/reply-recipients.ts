import type { Person } from "./person.ts";

/** The parts of a message that decide about the recipients of a reply. */
export interface RepliedMessage {
  from: Person;
  to: readonly Person[];
  cc: readonly Person[];
}

/**
 * Recipients of a reply: the sender, or for an own message its recipients. With `toAll` also all others. Every adapter sends a
 * reply to exactly these, because a person may have approved them.
 *
 * @example
 * const recipients = replyRecipients(message, { account: "kim@lantern.example", toAll: false });
 */
export function replyRecipients(
  { from, to, cc }: RepliedMessage,
  { account, toAll }: { account: string; toAll: boolean },
): { to: Person[]; cc: Person[] } {
  const isOwn = from.address === account;
  const first = isOwn ? [...to] : [from];
  const known = new Set([account, ...first.map(({ address }) => address)]);
  const others = toAll ? [...(isOwn ? [] : to), ...cc].filter(({ address }) => !known.has(address)) : [];
  return { to: first, cc: others };
}

/** The subject of a reply. */
export function replySubject(subject: string): string {
  return /^re:/i.test(subject) ? subject : `Re: ${subject}`;
}
