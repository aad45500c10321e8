import type { IncomingMessage } from "node:http";
import { Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { RunFailure } from "@troupe/core";

export interface BodyLimits {
  /** Bytes before decompression. */
  wireBytesMax: number;
  /** Bytes after decompression. */
  bytesMax: number;
}

/** The content encodings that the client accepts. Old versions of Node cannot decompress zstd. */
export const acceptedEncodings = ["gzip", "deflate", "br", ...("createZstdDecompress" in zlib ? ["zstd"] : [])];

/** Reads and decompresses a body as a stream, so that a decompression bomb never takes more memory than the limit. */
export async function readBody(
  message: IncomingMessage,
  { host, limits, signal }: { host: string; limits: BodyLimits; signal: AbortSignal },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const stages = [
    message,
    limitBytes(limits.wireBytesMax, host, ""),
    ...createDecoders(message.headers["content-encoding"], host),
    limitBytes(limits.bytesMax, host, " after decompression"),
    sink,
  ];
  await pipeline(stages, { signal });
  return Buffer.concat(chunks);
}

function limitBytes(bytesMax: number, host: string, stage: string): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) return done(null, chunk);
      const message = `${host} sends more than ${bytesMax} bytes${stage}, the limit of a page; request a smaller one`;
      done(new RunFailure({ type: "tool_error", message, recoverable: false }));
    },
  });
}

/** Returns the decoders in the order of decompression. HTTP allows any number of encodings; no real server uses three. */
function createDecoders(contentEncoding: string | undefined, host: string): Transform[] {
  const names = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
    .reverse();
  if (names.length > 2) throw unsupportedEncoding(host, names.join(", "));
  return names.map((name) => {
    const decoder = createDecoder(name);
    if (decoder === null) throw unsupportedEncoding(host, name);
    return decoder;
  });
}

function createDecoder(name: string): Transform | null {
  // These decoders reject a truncated body. Half a page must not pass for a whole one.
  switch (name) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      return zlib.createInflate();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      return "createZstdDecompress" in zlib ? zlib.createZstdDecompress() : null;
    default:
      return null;
  }
}

function unsupportedEncoding(host: string, name: string): RunFailure {
  return new RunFailure({
    type: "tool_error",
    message: `${host} sends the content encoding ${JSON.stringify(name.slice(0, 80))}, which is not supported`,
    recoverable: false,
  });
}
