import type { Unparsed } from "./queries.ts";

/** A line of somebody's own is shorter, on the average of a file. */
const averageLineLengthMax = 400;
const minifiedFrom = 20_000;

/** The text of a source file; or why it is none that is worth parsing. */
export function decodeSource(bytes: Uint8Array): string | Unparsed {
  const encoding = encodingOf(bytes);
  if (encoding === "utf-8" && bytes.includes(0)) return { problem: "it is binary" };
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return isMinified(text) ? { problem: "it is minified or generated: its lines are too long" } : text;
  } catch {
    return { problem: `it is no ${encoding === "utf-8" ? "UTF-8" : "UTF-16"} text` };
  }
}

/** What a byte order mark says; the mark itself is taken off by the decoder. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

function isMinified(text: string): boolean {
  if (text.length < minifiedFrom) return false;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines > averageLineLengthMax;
}
