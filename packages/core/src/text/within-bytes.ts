const encoder = new TextEncoder();
// A byte order mark is part of the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The beginning of a text that is too long, within a number of bytes, `notice` at its end included. */
export function startWithinBytes(text: string, bytesMax: number, notice: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= bytesMax) return text;
  let end = Math.max(0, bytesMax - encoder.encode(notice).byteLength);
  while (end > 0 && isWithinCharacter(bytes[end])) end -= 1;
  return decoder.decode(bytes.subarray(0, end)) + notice;
}

/** The end of a text that is too long, within a number of bytes, `notice` at its beginning included. */
export function endWithinBytes(text: string, bytesMax: number, notice: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= bytesMax) return text;
  let start = bytes.byteLength - Math.max(0, bytesMax - encoder.encode(notice).byteLength);
  while (start < bytes.byteLength && isWithinCharacter(bytes[start])) start += 1;
  return notice + decoder.decode(bytes.subarray(start));
}

/** Whether a byte is any but the first of its character. */
function isWithinCharacter(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
