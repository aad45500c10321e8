/** One way in which a secret may stand in a text. */
export interface Variant {
  text: string;
  /** Whoever wrote it may have broken it into lines, as `base64` does after 76 characters. */
  wraps: boolean;
}

const encoder = new TextEncoder();

/**
 * A secret as it stands in texts: as it is, and as what programs make of it on its way into one. Base64 comes in three
 * alignments, because what stands before the secret moves it: of each only the part that nothing around it changes, so
 * that `user:secret` and a whole header are found as well, with or without padding.
 */
export function variantsOf(value: string): Variant[] {
  const bytes = encoder.encode(value);
  const plain = [value, ...escapedForms(value), ...percentForms(value, bytes), ...hexForms(bytes)];
  const base64 = [0, 1, 2].flatMap((before) => {
    const core = base64Core(bytes, before);
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return [
    ...[...new Set(plain)].map((text) => ({ text, wraps: false })),
    ...[...new Set(base64)].map((text) => ({ text, wraps: true })),
  ];
}

/** As the inside of a JSON string. */
export function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** JSON within JSON is common: a tool's output, quoted in an error. */
function escapedForms(value: string): string[] {
  const once = jsonEscaped(value);
  const ascii = once.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const html = value.replace(/[&<>"']/g, (character) => htmlEscapes[character] ?? character);
  return [once, jsonEscaped(once), ascii, html];
}

const htmlEscapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Who encodes for a URL agrees on letters and digits; the rest differs from library to library. */
const unescapedForms = [/[\w.~-]/, /[\w.~!'()*-]/, /[\w.~/-]/, /[\w.*-]/];

function percentForms(value: string, bytes: Uint8Array): string[] {
  if (/^[\w.-]*$/.test(value)) return [];
  return unescapedForms.flatMap((unescaped) => {
    const upper = percentEncoded(bytes, unescaped);
    const lower = upper.replace(/%../g, (code) => code.toLowerCase());
    return [upper, lower, upper.replaceAll("%20", "+"), lower.replaceAll("%20", "+")];
  });
}

function percentEncoded(bytes: Uint8Array, unescaped: RegExp): string {
  return [...bytes]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return byte < 128 && unescaped.test(character) ? character : `%${hexOf(byte).toUpperCase()}`;
    })
    .join("");
}

function hexForms(bytes: Uint8Array): string[] {
  const hex = [...bytes].map(hexOf).join("");
  return [hex, hex.toUpperCase()];
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The base64 digits that hold bits of these bytes alone, where so many bytes (modulo 3) stand before them. */
function base64Core(bytes: Uint8Array, before: number): string {
  const bitsBefore = before * 8;
  const bitsEnd = bitsBefore + bytes.length * 8;
  let digits = "";
  for (let bit = Math.ceil(bitsBefore / 6) * 6; bit + 6 <= bitsEnd; bit += 6) {
    const place = bit - bitsBefore;
    const pair = ((bytes[place >> 3] ?? 0) << 8) | (bytes[(place >> 3) + 1] ?? 0);
    digits += base64Digits[(pair >> (10 - (place & 7))) & 63];
  }
  return digits;
}
