/** One message of an mbox, or the reason why it was left out. */
export interface MboxPart {
  raw: Buffer | null;
  problem: string | null;
}

const messageBytesMax = 50_000_000;
const newline = 0x0a;

/**
 * Splits an mbox into its messages, without reading all of it. A message begins with a line `From ` at the start of the file
 * or after an empty line. `>From ` within a message becomes `From `.
 */
export async function* splitMbox(
  chunks: AsyncIterable<Buffer>,
  { bytesMax = messageBytesMax }: { bytesMax?: number } = {},
): AsyncIterable<MboxPart> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let isOpen = false;
  let isAfterBlank = true;
  for await (const line of linesOf(chunks, bytesMax)) {
    if (isAfterBlank && startsWith(line, "From ")) {
      if (isOpen) yield partOf(lines, bytes, bytesMax);
      lines = [];
      bytes = 0;
      isOpen = true;
    } else if (isOpen) {
      bytes += line.byteLength;
      if (bytes <= bytesMax) lines.push(unquoted(line));
      else lines = [];
    }
    isAfterBlank = isBlank(line);
  }
  if (isOpen) yield partOf(lines, bytes, bytesMax);
}

function partOf(lines: readonly Buffer[], bytes: number, bytesMax: number): MboxPart {
  if (bytes <= bytesMax) return { raw: Buffer.concat(lines), problem: null };
  return { raw: null, problem: `has ${bytes} bytes, and at most ${bytesMax} are read` };
}

/** Lines with their end. A longer line than a message may be comes in parts, so that memory stays bounded. */
async function* linesOf(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncIterable<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at + 1)]);
      rest = [];
      restBytes = 0;
      from = at + 1;
    }
    const tail = chunk.subarray(from);
    rest.push(tail);
    restBytes += tail.byteLength;
    if (restBytes <= bytesMax) continue;
    yield Buffer.concat(rest);
    rest = [];
    restBytes = 0;
  }
  if (restBytes > 0) yield Buffer.concat(rest);
}

function startsWith(line: Buffer, text: string): boolean {
  return line.subarray(0, text.length).toString("latin1") === text;
}

function isBlank(line: Buffer): boolean {
  return line.byteLength <= 2 && line.toString("latin1").trim() === "";
}

function unquoted(line: Buffer): Buffer {
  return line[0] === 0x3e && /^>+From /.test(line.subarray(0, 100).toString("latin1")) ? line.subarray(1) : line;
}
