/** A larger document is cut: the text of a mail is in its first part. */
const charactersMax = 1_000_000;

/** The readable text of an HTML mail. The targets of links stay visible, because a reader has to judge them. */
export async function htmlToText(html: string): Promise<string> {
  const { convert } = await import("html-to-text");
  return convert(html.slice(0, charactersMax), {
    wordwrap: false,
    limits: { maxDepth: 200, maxChildNodes: 20_000, ellipsis: "…" },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "style", format: "skip" },
      { selector: "script", format: "skip" },
    ],
  });
}
