import type { z } from "zod";
import type { MailQuery } from "../../ports/mail.ts";

/** More words make no search more exact. */
const wordsMax = 32;

/**
 * The query of Gmail for a search. Every word is in quotes, so that operators of Gmail within it have no meaning.
 *
 * @example
 * gmailQuery(MailQuery.parse({ text: "invoice from:boss", from: "ana" }));
 * // '"invoice" "from:boss" from:"ana"'
 */
export function gmailQuery(query: z.output<typeof MailQuery>): string {
  const { text, from, to, subject, since, until, folder, isUnread, hasAttachment } = query;
  return [
    ...quotedWords(text),
    ...quotedWords(from).map((word) => `from:${word}`),
    ...quotedWords(to).map((word) => `to:${word}`),
    ...quotedWords(subject).map((word) => `subject:${word}`),
    // Whole seconds, and wider than asked for: the adapter compares the exact times.
    ...(since === null ? [] : [`after:${Math.floor(Date.parse(since) / 1_000) - 1}`]),
    ...(until === null ? [] : [`before:${Math.ceil(Date.parse(until) / 1_000) + 1}`]),
    ...(folder === null ? [] : [folderTerms[folder]]),
    ...flag("is:unread", isUnread),
    ...flag("has:attachment", hasAttachment),
  ].join(" ");
}

const folderTerms = {
  inbox: "in:inbox",
  sent: "in:sent",
  drafts: "in:drafts",
  archive: "-in:inbox -in:sent -in:drafts",
} as const;

function flag(term: string, wanted: boolean | null): string[] {
  return wanted === null ? [] : [wanted ? term : `-${term}`];
}

/** The words and quoted parts of a text, each in quotes. A part without a letter or digit finds nothing, and is left out. */
export function quotedWords(text: string): string[] {
  const parts = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  const words = parts.filter((part) => /[\p{L}\p{N}]/u.test(part)).slice(0, wordsMax);
  return words.map((word) => `"${word.replace(/\s+/g, " ").trim()}"`);
}
