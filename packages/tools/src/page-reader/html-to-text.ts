/** Elements whose content browsers do not show. */
const hiddenElements = ["script", "style", "template", "noscript", "svg", "head", "iframe", "object"];
/** Elements that begin a new line. */
const blockElement =
  /^\/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|table|td|th|tr|ul)$/;
const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  copy: "©",
  laquo: "«",
  raquo: "»",
};

/**
 * The visible text of a page. It scans the markup once and builds no tree, so it accepts broken markup and pages that
 * exhaust a parser.
 */
export function htmlToText(html: string): string {
  const pieces: string[] = [];
  for (let position = 0; position < html.length; ) {
    const open = html.indexOf("<", position);
    if (open === -1) {
      pieces.push(html.slice(position));
      break;
    }
    pieces.push(html.slice(position, open));
    const { end, text } = markupAt(html, open);
    pieces.push(text);
    position = end;
  }
  return collapseSpace(decodeEntities(pieces.join("")));
}

/** The end of the markup that begins at a `<`, and its replacement text. */
function markupAt(html: string, open: number): { end: number; text: string } {
  if (html.startsWith("<!--", open)) return { end: after(html, "-->", open + 4), text: "" };
  const [, name = ""] = /^<(\/?[a-z][a-z0-9]*|[!?])/i.exec(html.slice(open, open + 40)) ?? [];
  if (name === "") return { end: open + 1, text: "<" };
  const tag = name.toLowerCase();
  const end = after(html, ">", open);
  if (hiddenElements.includes(tag)) return { end: endOfElement(html, tag, end), text: " " };
  return { end, text: blockElement.test(tag) ? "\n" : "" };
}

function endOfElement(html: string, tag: string, from: number): number {
  const close = new RegExp(`</${tag}[\\s>/]`, "gi");
  close.lastIndex = from;
  const match = close.exec(html);
  // An element without an end hides the rest of the page, except for the head, whose end tag is optional.
  if (!match) return tag === "head" ? from : html.length;
  return after(html, ">", match.index);
}

function after(html: string, mark: string, from: number): number {
  const index = html.indexOf(mark, from);
  return index === -1 ? html.length : index + mark.length;
}

/** Decodes numeric character references and the most common named ones. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}

function collapseSpace(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/[\s]+/g, " ").trim());
  return lines
    .filter((line, i) => line !== "" || (i > 0 && lines[i - 1] !== ""))
    .join("\n")
    .trim();
}
