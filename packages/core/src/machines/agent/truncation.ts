/** The tool that gives a result of the same run back by its reference. */
export const recallToolName = "recall";

export interface Truncation {
  /** Characters of the whole that are left out: from the first of them to the one after the last. */
  from: number;
  to: number;
  length: number;
  /** How what is left out can be read. */
  rest: { reference: string } | { why: string };
}

/** What a model reads in place of the middle of an output that is too long. */
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

/** The same text for whoever cannot recall the result: the reference is of another run. */
export function withoutRecallHints(text: string): string {
  return text.replace(recallHint, "$1]");
}
