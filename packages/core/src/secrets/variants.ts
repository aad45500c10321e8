/** One encoded form of a secret. */
export interface Variant {
  text: string;
  /** Whether it may be broken into lines, as `base64` does after 76 characters. */
  wraps: boolean;
}

const encoder = new TextEncoder();

/**
 * All common encodings of a secret. Base64 has three alignments, depending on the length of the text before the secret. Only
 * the digits that depend on the secret alone are searched, so that `user:secret` is found too, with or without padding.
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

/** The text as the content of a JSON string. */
export function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Escaped once and twice: a tool's output that is quoted in an error is JSON within JSON. */
function escapedForms(value: string): string[] {
  const once = jsonEscaped(value);
  const ascii = once.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const html = value.replace(/[&<>"']/g, (character) => htmlEscapes[character] ?? character);
  return [once, jsonEscaped(once), ascii, html];
}

const htmlEscapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Characters that URL encoders leave unescaped. Libraries differ in all but letters and digits. */
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
  const separated = [":", " ", "-"].map((separator) => [...bytes].map(hexOf).join(separator));
  return [hex, ...separated].flatMap((form) => [form, form.toUpperCase()]);
}

function hexOf(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The base64 digits that depend on these bytes only, with this number of bytes (modulo 3) before them. */
function base64Core(bytes: Uint8Array, before: number): string {
  const bitsBefore = before * 8;
  const bitsEnd = bitsBefore + bytes.length * 8;
  let digits = "";
  for (let bit = Math.ceil(bitsBefore / 6) * 6; bit + 6 <= bitsEnd; bit += 6) {
    const offset = bit - bitsBefore;
    const pair = ((bytes[offset >> 3] ?? 0) << 8) | (bytes[(offset >> 3) + 1] ?? 0);
    digits += base64Digits[(pair >> (10 - (offset & 7))) & 63];
  }
  return digits;
}
