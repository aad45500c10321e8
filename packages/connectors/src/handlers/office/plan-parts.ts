import { z } from "zod";
import { peopleWords, type RequestPart } from "./request-parts.ts";

/** A part with the parts that it needs. */
export const PlannedPart = z.object({
  domain: z.string(),
  /** The id of the agent. */
  agent: z.string(),
  /** As the request says it. */
  text: z.string(),
  /** The message for the agent. `{people}` and `{outcome}` are filled in when the parts that it needs are done. */
  message: z.string(),
  /** Numbers of the parts that it needs. */
  after: z.array(z.int()),
});
export type PlannedPart = z.output<typeof PlannedPart>;

const pronoun = /\b(?:them|him|her|they|these people|those people|these contacts|those contacts|everyone found)\b/i;
const outcomeWords =
  /^(?:it|this|that|(?:the|a|an) (?:short |quick )?(?:results?|outcome|news|summary|list|time|invitation|details))$/i;
/** Pronouns are not among the patterns of mail. */
const mailIt =
  /^(?:please )?(?:e-?mail|mail|send|forward) (?:it|this|that|the (?:results?|summary|outcome|list)) (?:by e-?mail )?to (.+)$/i;

/**
 * Finds the parts that others need: "them" are the people of an earlier part, and a post without a text tells what was done.
 * Null if a pronoun has no meaning.
 */
export function planParts(parts: readonly RequestPart[]): Omit<PlannedPart, "agent">[] | null {
  const planned: Omit<PlannedPart, "agent">[] = [];
  for (const [index, part] of parts.entries()) {
    const message = withOutcome(part, parts.slice(0, index)) ?? withPeople(part, parts.slice(0, index));
    if (message === null) return null;
    planned.push({ domain: part.match.domain, text: part.text, ...message });
  }
  return planned;
}

type PartMessage = Pick<PlannedPart, "message" | "after">;

/** A part that passes on what the parts before have found or done. */
function withOutcome({ match, text }: RequestPart, before: readonly RequestPart[]): PartMessage | null {
  if (before.length === 0) return null;
  const after = [...before.keys()];
  const [, recipients] = mailIt.exec(text) ?? [];
  if (recipients !== undefined) {
    const subject = before.at(-1)?.text ?? "";
    return { message: `Send an email to ${recipients} with the subject ${subject} saying {outcome}`, after };
  }
  if (match.domain !== "slack" || match.pattern !== "post") return null;
  const { channel, text: words } = match.words;
  if (words !== undefined && !outcomeWords.test(words)) return null;
  return { message: `Post in ${channel}: {outcome}`, after };
}

/** A part whose people are a pronoun. Null if no earlier part has people. */
function withPeople(part: RequestPart, before: readonly RequestPart[]): PartMessage | null {
  const words = peopleWords(part);
  const named = words === null ? null : pronoun.exec(words);
  if (words === null || !named) return { message: part.text, after: [] };
  for (const [index, source] of [...before.entries()].toReversed()) {
    const others = peopleWords(source);
    if (others !== null && !pronoun.test(others)) return { message: replaced(part, words, others), after: [] };
    if (findsPeople(source)) return { message: replaced(part, words, "{people}"), after: [index] };
  }
  return null;
}

function replaced({ text }: RequestPart, words: string, people: string): string {
  return text.replace(words, () => words.replace(pronoun, () => people));
}

function findsPeople({ match }: RequestPart): boolean {
  return match.domain === "contacts"
    ? /^by-/.test(match.pattern)
    : match.domain === "slack" && match.pattern === "user";
}
