import type { Readable } from "node:stream";
import { isAskable } from "../../workspace/protected-paths.ts";
import type { CommandResult } from "../sandbox.ts";

/**
 * Stores the beginning (three quarters of `bytesMax`) and the end (one quarter) of an output, and counts the bytes
 * between. Memory stays bounded by `bytesMax`, however long the output is.
 */
export interface Capture {
  add(bytes: Buffer): void;
  read(): { text: string; droppedBytes: number };
}

export function createCapture(bytesMax: number): Capture {
  const tailMax = Math.floor(bytesMax / 4);
  const head = createHead(bytesMax - tailMax);
  const tail = createTail(tailMax);
  return {
    add(bytes) {
      const rest = head.add(bytes);
      if (rest.byteLength > 0) tail.add(rest);
    },
    read() {
      const start = head.read();
      const { bytes: end, passedBytes } = tail.read();
      if (passedBytes === end.byteLength)
        return { text: Buffer.concat([start, end]).toString("utf8"), droppedBytes: 0 };
      const shownStart = start.subarray(0, start.byteLength - incompleteBytesAtEnd(start));
      const shownEnd = end.subarray(continuationBytesAtStart(end));
      const droppedBytes = start.byteLength + passedBytes - shownStart.byteLength - shownEnd.byteLength;
      const notice = `\n[… ${droppedBytes} bytes of output were left out here …]\n`;
      return { text: `${shownStart.toString("utf8")}${notice}${shownEnd.toString("utf8")}`, droppedBytes };
    },
  };
}

/** Stores the first bytes and returns the rest. */
function createHead(bytesMax: number) {
  const chunks: Buffer[] = [];
  let storedBytes = 0;
  return {
    add(bytes: Buffer): Buffer {
      if (storedBytes === bytesMax) return bytes;
      const fitting = bytes.subarray(0, bytesMax - storedBytes);
      // A copy: a view of a small part would hold the whole chunk in memory.
      if (fitting.byteLength > 0) chunks.push(Buffer.from(fitting));
      storedBytes += fitting.byteLength;
      return bytes.subarray(fitting.byteLength);
    },
    read: () => Buffer.concat(chunks),
  };
}

/** Stores the last bytes in a ring buffer, which it allocates at first use. */
function createTail(bytesMax: number) {
  let ring: Buffer | null = null;
  let passedBytes = 0;
  return {
    add(bytes: Buffer): void {
      ring ??= Buffer.allocUnsafe(bytesMax);
      passedBytes += bytes.byteLength;
      const last = bytes.subarray(Math.max(0, bytes.byteLength - bytesMax));
      const at = bytesMax === 0 ? 0 : (passedBytes - last.byteLength) % bytesMax;
      const untilEnd = last.copy(ring, at);
      if (untilEnd < last.byteLength) last.copy(ring, 0, untilEnd);
    },
    read(): { bytes: Buffer; passedBytes: number } {
      if (ring === null) return { bytes: Buffer.alloc(0), passedBytes };
      if (passedBytes <= bytesMax) return { bytes: ring.subarray(0, passedBytes), passedBytes };
      const at = passedBytes % bytesMax;
      return { bytes: Buffer.concat([ring.subarray(at), ring.subarray(0, at)]), passedBytes };
    },
  };
}

/** Read per turn of the event loop, so that a flood of output does not block other work. */
const bytesPerTurnMax = 1024 * 1024;

/**
 * Passes the bytes of a stream on, and never a part of a character, so that the chunks of two streams can be mixed. It
 * reads at most one megabyte in one turn of the event loop.
 */
export function readWholeCharacters(stream: Readable, add: (bytes: Buffer) => void): void {
  let pending: Buffer = Buffer.alloc(0);
  let bytesInTurn = 0;
  stream.on("data", (chunk: Buffer) => {
    const bytes = pending.byteLength > 0 ? Buffer.concat([pending, chunk]) : chunk;
    const incomplete = incompleteBytesAtEnd(bytes);
    pending = Buffer.from(bytes.subarray(bytes.byteLength - incomplete));
    add(bytes.subarray(0, bytes.byteLength - incomplete));
    bytesInTurn += chunk.byteLength;
    if (bytesInTurn < bytesPerTurnMax) return;
    bytesInTurn = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  });
  stream.on("end", () => {
    if (pending.byteLength > 0) add(pending);
  });
}

/** The number of bytes at the end that begin a UTF-8 character whose other bytes are missing. */
function incompleteBytesAtEnd(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back += 1) {
    const byte = bytes[bytes.byteLength - back] ?? 0;
    if (isContinuation(byte)) continue;
    return characterBytes(byte) > back ? back : 0;
  }
  return 0;
}

/** The number of bytes at the start that belong to a character before them. */
function continuationBytesAtStart(bytes: Buffer): number {
  const found = bytes.subarray(0, 4).findIndex((byte) => !isContinuation(byte));
  return found === -1 ? 0 : found;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function characterBytes(firstByte: number): number {
  if (firstByte >= 0xf0 && firstByte < 0xf8) return 4;
  if (firstByte >= 0xe0) return firstByte < 0xf0 ? 3 : 1;
  return firstByte >= 0xc0 ? 2 : 1;
}

/** Appends a notice of troupe to a command's output. */
export function withNotice(result: CommandResult, notice: string): CommandResult {
  const line = result.output === "" || result.output.endsWith("\n") ? "" : "\n";
  return { ...result, output: `${result.output}${line}[${notice}]\n` };
}

/** Appends a notice that names the protected paths that the command wrote and the sandbox restored. */
export function withRestored(result: CommandResult, paths: readonly string[], savedIn?: string): CommandResult {
  if (paths.length === 0) return result;
  const askable = paths.find(isAskable);
  const hint = askable === undefined ? "" : `; for ${askable}, a file tool can ask a person`;
  // A person may have made it while the command ran.
  const saved = savedIn === undefined ? "" : `; kept for the user in ${savedIn}`;
  return withNotice(result, `undone, because no command may write it: ${paths.join(", ")}${saved}${hint}`);
}
