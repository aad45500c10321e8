/** The beginning of a text that is too long, within a number of bytes, `notice` at its end included. */
export function beginningOf(text: string, bytesMax: number, notice: string): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  let end = Math.max(0, bytesMax - Buffer.byteLength(notice));
  while (end > 0 && isWithinCharacter(bytes[end])) end -= 1;
  return bytes.toString("utf8", 0, end) + notice;
}

/** The end of a text that is too long, within a number of bytes, `notice` at its beginning included. */
export function endOf(text: string, bytesMax: number, notice: string): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= bytesMax) return text;
  let start = bytes.byteLength - Math.max(0, bytesMax - Buffer.byteLength(notice));
  while (start < bytes.byteLength && isWithinCharacter(bytes[start])) start += 1;
  return notice + bytes.toString("utf8", start);
}

/** Whether a byte is any but the first of its character. */
function isWithinCharacter(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
