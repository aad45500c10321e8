import type { Blobs } from "@troupe/core";

const hashPattern = /\b[0-9a-f]{64}\b/g;
/** Lists of files are blobs that name other blobs. Larger blobs are contents. */
const listBytesMax = 16 * 1024 * 1024;

/** All hashes that a text names. Most are hashes of entries. */
export function hashesIn(text: string): string[] {
  return text.match(hashPattern) ?? [];
}

/** The blobs that texts name, and the blobs that these name in turn. A missing blob is left out, and a damaged one fails. */
export async function* blobsOf(
  texts: Iterable<{ text: string }>,
  blobs: Pick<Blobs, "get">,
): AsyncGenerator<[hash: string, bytes: Uint8Array]> {
  const seen = new Set<string>();
  const waiting: string[] = [];
  const add = (text: string): void => {
    for (const hash of hashesIn(text)) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      waiting.push(hash);
    }
  };
  for (const { text } of texts) add(text);
  for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
    const bytes = await blobs.get(hash);
    if (!bytes) continue;
    yield [hash, bytes];
    // A list of files begins like every message: with an object.
    if (bytes.byteLength <= listBytesMax && bytes[0] === 0x7b) add(Buffer.from(bytes).toString("utf8"));
  }
}
