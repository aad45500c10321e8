import type { Readable } from "node:stream";

/**
 * Keeps the beginning and the end of what is written, and counts what was between them: three quarters and one quarter
 * of `bytesMax`. However much comes, it costs no more memory than that.
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
      const shownStart = start.subarray(0, start.byteLength - unfinishedBytes(start));
      const shownEnd = end.subarray(strayBytes(end));
      const droppedBytes = start.byteLength + passedBytes - shownStart.byteLength - shownEnd.byteLength;
      const notice = `\n[… ${droppedBytes} bytes of output were left out here …]\n`;
      return { text: `${shownStart.toString("utf8")}${notice}${shownEnd.toString("utf8")}`, droppedBytes };
    },
  };
}

/** Keeps what comes first, and gives back the rest. */
function createHead(bytesMax: number) {
  const chunks: Buffer[] = [];
  let keptBytes = 0;
  return {
    add(bytes: Buffer): Buffer {
      if (keptBytes === bytesMax) return bytes;
      const kept = bytes.subarray(0, bytesMax - keptBytes);
      // A copy, so that a small part does not hold on to the whole chunk it came in.
      if (kept.byteLength > 0) chunks.push(Buffer.from(kept));
      keptBytes += kept.byteLength;
      return bytes.subarray(kept.byteLength);
    },
    read: () => Buffer.concat(chunks),
  };
}

/** Keeps what comes last, in a ring that is made when it is needed. */
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

/** Of what was read at once, so that a flood leaves the event loop time for others. */
const bytesPerTurnMax = 1024 * 1024;

/**
 * Hands on what a stream brings, never a part of a character: so that two streams can be put together as they come. No
 * more than a megabyte is taken in one turn of the event loop.
 */
export function readWhole(stream: Readable, add: (bytes: Buffer) => void): void {
  let held: Buffer = Buffer.alloc(0);
  let inTurnBytes = 0;
  stream.on("data", (chunk: Buffer) => {
    const bytes = held.byteLength > 0 ? Buffer.concat([held, chunk]) : chunk;
    const unfinished = unfinishedBytes(bytes);
    held = Buffer.from(bytes.subarray(bytes.byteLength - unfinished));
    add(bytes.subarray(0, bytes.byteLength - unfinished));
    inTurnBytes += chunk.byteLength;
    if (inTurnBytes < bytesPerTurnMax) return;
    inTurnBytes = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  });
  stream.on("end", () => {
    if (held.byteLength > 0) add(held);
  });
}

/** How many bytes at the end begin a character of UTF-8 that goes on behind them. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back += 1) {
    const byte = bytes[bytes.byteLength - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

/** How many bytes at the start are of a character that began before them. */
function strayBytes(bytes: Buffer): number {
  const found = bytes.subarray(0, 4).findIndex((byte) => !isContinuation(byte));
  return found === -1 ? 0 : found;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthOf(firstByte: number): number {
  if (firstByte >= 0xf0 && firstByte < 0xf8) return 4;
  if (firstByte >= 0xe0) return firstByte < 0xf0 ? 3 : 1;
  return firstByte >= 0xc0 ? 2 : 1;
}
