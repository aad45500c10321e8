/** Text, and the encoding that it was read by. */
export interface DecodedText {
  text: string;
  charset: string;
}

/** How far a page may go before it says its encoding. */
const declarationBytesMax = 1_024;

/**
 * In the order that browsers go by: a byte order mark, what the server says, what the page says; then UTF-8 where it fits,
 * and Windows-1252, by which every byte means something. Never throws: what cannot be decoded becomes U+FFFD.
 */
export function decodeText(bytes: Uint8Array, said: string | null): DecodedText {
  for (const label of [byteOrderMark(bytes), said, declared(bytes)]) {
    const decoder = label === null ? null : decoderFor(label);
    if (decoder) return { text: decoder.decode(bytes), charset: decoder.encoding };
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), charset: "utf-8" };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), charset: "windows-1252" };
  }
}

function byteOrderMark([a, b, c]: Uint8Array): string | null {
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xff && b === 0xfe ? "utf-16le" : null;
}

function declared(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.subarray(0, declarationBytesMax)).toString("latin1");
  const [, meta, xml] =
    /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]{1,40})|<\?xml[^>]{1,100}encoding\s*=\s*["']([\w-]{1,40})/i.exec(
      beginning,
    ) ?? [];
  const label = meta ?? xml ?? null;
  // It was found by reading single bytes, so that it cannot be in one of two.
  return label !== null && /^utf-?16/i.test(label) ? "utf-8" : label;
}

/** Null for an encoding that nobody knows, and for those that browsers do not decode. */
function decoderFor(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}
