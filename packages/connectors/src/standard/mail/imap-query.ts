import type { SearchObject } from "imapflow";
import type { z } from "zod";
import type { MailQuery } from "../../ports/mail.ts";

type MailSearch = z.output<typeof MailQuery>;

const dayMs = 86_400_000;
const partsMax = 20;

/**
 * The search of IMAP for a query. The server compares parts of words, without case. Its days have no zone, so the span is a day
 * wider on both sides, and `isWithinSpan` compares the exact times.
 *
 * @example
 * toImapSearch(MailQuery.parse({ text: "invoice", isUnread: true }));
 */
export function toImapSearch(query: MailSearch): SearchObject {
  const conditions: SearchObject[] = [
    ...partsOf(query.text).map(anywhere),
    ...partsOf(query.from).map((from) => ({ from })),
    ...partsOf(query.to).map((to) => ({ or: [{ to }, { cc: to }] })),
    ...partsOf(query.subject).map((subject) => ({ subject })),
    ...(query.since === null ? [] : [{ sentSince: midnight(Date.parse(query.since) - dayMs) }]),
    ...(query.until === null ? [] : [{ sentBefore: midnight(Date.parse(query.until) + 2 * dayMs) }]),
    ...(query.isUnread === null ? [] : [{ seen: !query.isUnread }]),
    ...(query.thread === null ? [] : [inThread(query.thread)]),
    { deleted: false },
  ];
  return allOf(conditions);
}

/** Words, and parts in double quotes, with at least one letter or digit. */
export function partsOf(text: string): string[] {
  const parts = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word]) => (phrase ?? word ?? "").trim());
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part)).slice(0, partsMax);
}

function anywhere(part: string): SearchObject {
  return { or: [{ subject: part }, { body: part }, { from: part }, { to: part }, { cc: part }] };
}

function inThread(root: string): SearchObject {
  const headers = ["message-id", "references", "in-reply-to"];
  return { or: headers.map((name) => ({ header: { [name]: root } })) };
}

function midnight(atMs: number): Date {
  return new Date(Math.floor(atMs / dayMs) * dayMs);
}

/** An object of imapflow has each kind of condition once. A twofold `not` makes room for all the others. */
function allOf([first = { all: true }, ...rest]: readonly SearchObject[]): SearchObject {
  if (rest.length === 0) return first;
  return { ...first, not: { not: allOf(rest) } };
}

/** Whether a time is within the span of the query. */
export function isWithinSpan(sentMs: number, { since, until }: Pick<MailSearch, "since" | "until">): boolean {
  return (since === null || sentMs >= Date.parse(since)) && (until === null || sentMs < Date.parse(until));
}
