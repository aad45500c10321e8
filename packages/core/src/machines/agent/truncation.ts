/** The tool that returns a stored result of the same run by its reference. */
export const recallToolName = "recall";

/** The middle part that was left out of a long output. */
export interface Truncation {
  /** First character that is left out, and the first one after the gap. */
  from: number;
  to: number;
  /** Characters of the whole output. */
  length: number;
  /** The reference for recalling the missing part, or why it cannot be recalled. */
  rest: { reference: string } | { why: string };
}

/** The text that a model reads in place of the missing middle of a long output. */
export function truncationNotice({ from, to, length, rest }: Truncation): string {
  const hint =
    "reference" in rest
      ? `to read them, call ${recallToolName} with {"result":"${rest.reference}","from":${from}}`
      : rest.why;
  return `\n[cut: characters ${from} to ${to} of ${length} are left out; ${hint}]\n`;
}

const recallHint = new RegExp(
  `(\\[cut: characters \\d+ to \\d+ of \\d+ are left out); to read them, call ${recallToolName} with \\{[^{}\\n]*\\}\\]`,
  "g",
);

/** Removes recall hints: the references mean nothing to another run. */
export function withoutRecallHints(text: string): string {
  return text.replace(recallHint, "$1]");
}
