import type { IncomingMessage } from "node:http";
import { Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { RunFailure } from "@troupe/core";

export interface BodyCaps {
  /** As it comes over the wire. */
  wireBytesMax: number;
  /** After decompression. */
  bytesMax: number;
}

/** What a server may send: an old Node cannot decompress zstd. */
export const acceptedEncodings = ["gzip", "deflate", "br", ...("createZstdDecompress" in zlib ? ["zstd"] : [])];

/** The whole body, decompressed while it comes: no more than a cap of it is ever held, however far it would inflate. */
export async function readBody(
  message: IncomingMessage,
  { host, caps, signal }: { host: string; caps: BodyCaps; signal: AbortSignal },
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
    counted(caps.wireBytesMax, `${host} sends`),
    ...decoders(message.headers["content-encoding"], host),
    counted(caps.bytesMax, `${host} sends, decompressed,`),
    sink,
  ];
  await pipeline(stages, { signal });
  return Buffer.concat(chunks);
}

function counted(bytesMax: number, who: string): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > bytesMax) done(tooLarge(who, bytesMax));
      else done(null, chunk);
    },
  });
}

/** In the order in which they are undone. Several are allowed by the protocol, and make no sense past two. */
function decoders(contentEncoding: string | undefined, host: string): Transform[] {
  const names = (contentEncoding ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const said = names.filter((name) => name !== "" && name !== "identity").reverse();
  if (said.length > 2) throw unknownEncoding(host, said.join(", "));
  return said.map((name) => decoder(name) ?? fail(unknownEncoding(host, name)));
}

function decoder(name: string): Transform | null {
  // A body whose end is missing is read as far as it goes by none of these: half a page would pass for a whole one.
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

function fail(failure: RunFailure): never {
  throw failure;
}

function tooLarge(who: string, bytesMax: number): RunFailure {
  return new RunFailure({
    type: "tool_error",
    message: `${who} more than the ${bytesMax} bytes that are read of a page; ask for a smaller one`,
    recoverable: false,
  });
}

function unknownEncoding(host: string, name: string): RunFailure {
  return new RunFailure({
    type: "tool_error",
    message: `${host} compressed its answer as ${JSON.stringify(name.slice(0, 80))}, which cannot be read here`,
    recoverable: false,
  });
}
