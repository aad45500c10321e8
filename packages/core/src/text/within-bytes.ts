const encoder = new TextEncoder();
// Keeps a byte order mark as part of the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Cuts the end of a text over the limit and appends `notice`, which counts towards the limit. */
export function startWithinBytes(text: string, bytesMax: number, notice: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= bytesMax) return text;
  let end = Math.max(0, bytesMax - encoder.encode(notice).byteLength);
  while (end > 0 && isWithinCharacter(bytes[end])) end -= 1;
  return decoder.decode(bytes.subarray(0, end)) + notice;
}

/** Cuts the start of a text over the limit and prepends `notice`, which counts towards the limit. */
export function endWithinBytes(text: string, bytesMax: number, notice: string): string {
  const bytes = encoder.encode(text);
  if (bytes.byteLength <= bytesMax) return text;
  let start = bytes.byteLength - Math.max(0, bytesMax - encoder.encode(notice).byteLength);
  while (start < bytes.byteLength && isWithinCharacter(bytes[start])) start += 1;
  return notice + decoder.decode(bytes.subarray(start));
}

/** Whether a byte continues a character. */
function isWithinCharacter(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}
