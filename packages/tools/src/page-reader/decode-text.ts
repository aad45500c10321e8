export interface DecodedText {
  text: string;
  /** The encoding of the bytes. */
  charset: string;
}

/** A page must declare its encoding within these bytes. */
const declarationBytesMax = 1_024;

/**
 * Decodes text with the priorities of browsers: byte order mark, HTTP header, declaration in the page. Otherwise it tries
 * UTF-8 and then Windows-1252, which decodes every byte. Never throws: undecodable bytes become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, headerCharset: string | null): DecodedText {
  for (const label of [byteOrderMark(bytes), headerCharset, declaredCharset(bytes)]) {
    const decoder = label === null ? null : decoderOf(label);
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

function declaredCharset(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, declarationBytesMax)).toString("latin1");
  const [, meta, xml] =
    /<meta[^>]{1,200}charset\s*=\s*["']?([\w-]{1,40})|<\?xml[^>]{1,100}encoding\s*=\s*["']([\w-]{1,40})/i.exec(head) ??
    [];
  const label = meta ?? xml ?? null;
  // The declaration was readable as single bytes, so the page cannot be UTF-16.
  return label !== null && /^utf-?16/i.test(label) ? "utf-8" : label;
}

/** Null for an unknown encoding and for encodings that browsers do not decode. */
function decoderOf(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}
