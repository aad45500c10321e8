/** Elements whose content nobody sees. */
const unseen = ["script", "style", "template", "noscript", "svg", "head", "iframe", "object"];
/** Where a line ends. */
const block =
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
 * The words of a page, whatever is wrong with its markup: goes over it once, without a tree. For pages that are made to be
 * too much for whoever builds one.
 */
export function htmlToText(html: string): string {
  const pieces: string[] = [];
  for (let place = 0; place < html.length; ) {
    const open = html.indexOf("<", place);
    if (open === -1) {
      pieces.push(html.slice(place));
      break;
    }
    pieces.push(html.slice(place, open));
    const { end, text } = markupAt(html, open);
    pieces.push(text);
    place = end;
  }
  return tidy(decodeEntities(pieces.join("")));
}

/** What begins with a `<`: where it ends, and what is read in its place. */
function markupAt(html: string, open: number): { end: number; text: string } {
  if (html.startsWith("<!--", open)) return { end: after(html, "-->", open + 4), text: "" };
  const [, name = ""] = /^<(\/?[a-z][a-z0-9]*|[!?])/i.exec(html.slice(open, open + 40)) ?? [];
  if (name === "") return { end: open + 1, text: "<" };
  const tag = name.toLowerCase();
  const end = after(html, ">", open);
  if (unseen.includes(tag)) return { end: endOfElement(html, tag, end), text: " " };
  return { end, text: block.test(tag) ? "\n" : "" };
}

function endOfElement(html: string, tag: string, from: number): number {
  const close = new RegExp(`</${tag}[\\s>/]`, "gi");
  close.lastIndex = from;
  const found = close.exec(html);
  // A page that never closes it has no end of it; but its head ends where its body begins.
  if (!found) return tag === "head" ? from : html.length;
  return after(html, ">", found.index);
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** Those that matter for reading. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/[\s]+/g, " ").trim());
  return lines
    .filter((line, i) => line !== "" || (i > 0 && lines[i - 1] !== ""))
    .join("\n")
    .trim();
}
