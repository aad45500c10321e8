import { z } from "zod";

/**
 * Untrusted and private sources that a run has read. A run that has read both untrusted text and private data
 * needs a person's approval for calls that send more than a few characters: the text may have told it to send the data.
 */
export const Taint = z.object({
  /** Where text of strangers came from, such as the hosts of web pages. */
  untrusted: z.array(z.string()).default([]),
  /** Where private data came from, such as paths of files. */
  private: z.array(z.string()).default([]),
  /** Characters that calls have sent to the outside since both were read. */
  sentCharacters: z.int().nonnegative().default(0),
});
export type Taint = z.infer<typeof Taint>;

export const noTaint: Taint = { untrusted: [], private: [], sentCharacters: 0 };

/** Sources are for people: the first ones are enough. */
const sourcesMax = 20;

/** Joins the sources of two runs or calls. */
export function joinTaint(a: Taint, b: Taint | undefined): Taint {
  if (b === undefined) return a;
  const union = (some: readonly string[], more: readonly string[]): string[] =>
    [...new Set([...some, ...more])].slice(0, sourcesMax);
  return {
    untrusted: union(a.untrusted, b.untrusted),
    private: union(a.private, b.private),
    sentCharacters: Math.min(a.sentCharacters + b.sentCharacters, Number.MAX_SAFE_INTEGER),
  };
}

/** The taint as a field of a message. Nothing for a run that has read nothing: messages of earlier versions have no such field. */
export function taintField(taint: Taint | undefined): { taint?: Taint } {
  if (taint === undefined) return {};
  const isEmpty = taint.untrusted.length === 0 && taint.private.length === 0 && taint.sentCharacters === 0;
  return isEmpty ? {} : { taint };
}

/** Whether a run has read both, so that a person has to approve what it sends. */
export function isFullyTainted(taint: Taint | undefined): taint is Taint {
  return taint !== undefined && taint.untrusted.length > 0 && taint.private.length > 0;
}
