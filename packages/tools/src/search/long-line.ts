import { resolvePath } from "../workspace/resolve-path.ts";

/** Shown of a long line before its match, and from there on. */
const beforeBytes = 100;
const fromBytes = 300;

/** The part of a line that a match is in, where the line is too long to be shown: a minified file is one line. */
export async function aroundMatch(workspace: string, path: string, place: number): Promise<string> {
  const start = Math.max(0, place - beforeBytes);
  try {
    const bytes = await readPart(workspace, path, { start, length: place - start + fromBytes });
    return cutToLine(bytes, place - start);
  } catch {
    return "[a long line]";
  }
}

async function readPart(workspace: string, path: string, { start, length }: { start: number; length: number }) {
  await using place = await resolvePath(workspace, path);
  if (place.found.kind !== "file") throw new Error("it is no file any more");
  await using file = await place.found.file.open();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
  return buffer.subarray(0, bytesRead);
}

/** Without what is of other lines, and with a mark on each side where there is more. */
function cutToLine(bytes: Buffer, place: number): string {
  const lineStart = bytes.lastIndexOf("\n", place) + 1;
  const lineEnd = bytes.indexOf("\n", place);
  const part = bytes.subarray(lineStart, lineEnd === -1 ? undefined : lineEnd);
  if (part.includes(0)) return "[a long line]";
  // The cut may be in the middle of a character.
  const text = part.toString("utf8").replace(/^\uFFFD{1,3}|\uFFFD{1,3}$/g, "");
  return `${lineStart === 0 ? "…" : ""}${text}${lineEnd === -1 ? "…" : ""}`;
}
