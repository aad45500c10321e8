import { lastAtMost } from "../text/last-at-most.ts";

/**
 * Decodes escaped characters, so that a secret is found however many of its characters are escaped: `%73`, `\u0073`,
 * `\u{73}`, `\x73`, `&#115;`, `&#x73;`, `&amp;`. A backslash may be doubled, as in JSON within JSON.
 */
export interface Decoded {
  text: string;
  /** The index in the original text at which the character at `index` of the decoded text begins. */
  originalIndex(index: number): number;
}

const byte = (high: string): string => `%[${high}][0-9a-f]`;
const tail = byte("89ab");

/** Each alternative is one character. A percent-encoded character outside ASCII has two to four bytes. */
const escaped = new RegExp(
  [
    byte("0-7"),
    byte("cd") + tail,
    byte("e") + tail + tail,
    byte("f") + tail + tail + tail,
    "\\\\+x[0-9a-f]{2}",
    "\\\\+u[0-9a-f]{4}",
    "\\\\+u\\{[0-9a-f]{1,6}\\}",
    "&#x0{0,4}[0-9a-f]{1,6};",
    "&#0{0,4}[0-9]{1,7};",
    "&(?:amp|lt|gt|quot|apos);",
  ].join("|"),
  "gi",
);

const partOfTail = "(?:%[89ab]?)?";

/** The end of a text that may be the beginning of an escape. */
const incomplete = new RegExp(
  `(?:${[
    "%[0-9a-f]?",
    byte("cd") + partOfTail,
    `${byte("e")}(?:${tail})?${partOfTail}`,
    `${byte("f")}(?:${tail}){0,2}${partOfTail}`,
    "\\\\+(?:x[0-9a-f]?|u[0-9a-f]{0,3}|u\\{[0-9a-f]{0,6})?",
    "&(?:#x?[0-9a-f]{0,10}|[a-z]{0,4})",
  ].join("|")})$`,
  "i",
);

const mayBeEscaped = /[%\\&]/;

/** Null if nothing in the text is escaped. */
export function decodeEscapes(text: string): Decoded | null {
  if (!mayBeEscaped.test(text)) return null;
  // Decoded and original index at which a part with the same text on both sides begins.
  const decodedStarts = [0];
  const originalStarts = [0];
  let decoded = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(escaped)) {
    const character = characterOf(found);
    if (character === null) continue;
    decoded += text.slice(from, index);
    decodedStarts.push(decoded.length);
    originalStarts.push(index);
    decoded += character;
    from = index + found.length;
    decodedStarts.push(decoded.length);
    originalStarts.push(from);
  }
  if (from === 0) return null;
  decoded += text.slice(from);
  return {
    text: decoded,
    originalIndex(index) {
      const part = lastAtMost(decodedStarts, index);
      const start = originalStarts[part] ?? 0;
      const offset = index - (decodedStarts[part] ?? 0);
      // Odd parts are escapes. The second half of a character with two code units begins with it.
      return part % 2 === 1 ? start : start + offset;
    },
  };
}

/** The first index from which the rest of the text may be an incomplete escape. */
export function escapeOpenFrom(text: string): number {
  const from = Math.max(0, text.length - incompleteLengthMax);
  const at = text.slice(from).search(incomplete);
  return at === -1 ? text.length : from + at;
}

const incompleteLengthMax = 32;

function characterOf(found: string): string | null {
  if (found.startsWith("%")) return percentDecoded(found);
  if (/^&[a-z]/i.test(found)) return entities[found.toLowerCase()] ?? null;
  const [digits = ""] = /[0-9a-f]+(?=[;}]?$)/i.exec(found.replace(/^(?:\\+[xu]|&#x?)\{?/i, "")) ?? [];
  const code = Number.parseInt(digits, found.startsWith("&#") && !/^&#x/i.test(found) ? 10 : 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : null;
}

const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };

function percentDecoded(found: string): string | null {
  try {
    return decodeURIComponent(found);
  } catch {
    return null;
  }
}
