import type { Redactor } from "./redactor.ts";

/**
 * Removes secrets from content: text is searched as UTF-8, and all other content as Latin-1, one character per byte. Returns
 * the same array, not a copy, if nothing was found.
 *
 * @example
 * const redactor = createRedactor({ values: [{ name: "KEY", value: "correct horse" }] });
 * redactBytes(redactor, bytes) === bytes; // true: the file has no known secret
 */
export function redactBytes(redact: Pick<Redactor, "text">, bytes: Uint8Array): Uint8Array {
  const utf8 = decodeUtf8(bytes);
  const text = utf8 ?? decodeLatin1(bytes);
  const redacted = redact.text(text);
  if (redacted === text) return bytes;
  return utf8 === null ? encodeLatin1(redacted) : new TextEncoder().encode(redacted);
}

/** Null for content that is not UTF-8. A byte order mark stays. */
function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * `TextDecoder` reads Latin-1 as Windows-1252, which changes some bytes. As UTF-16 each byte keeps its number, and the decoder
 * is faster than a loop.
 */
function decodeLatin1(bytes: Uint8Array): string {
  return new TextDecoder("utf-16le").decode(new Uint16Array(bytes));
}

function encodeLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
