import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { TroupeError } from "@troupe/core";
import { errorCodeOf } from "@troupe/core/internal";
import type { Output } from "../terminal/terminal.ts";

/** Lines that are written before the reader has taken the earlier ones. */
const linesAhead = 256;

/** Prints lines, no faster than the reader takes them. A reader that has enough ends the output. */
export async function printLines(out: Output, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  let count = 0;
  for await (const line of lines) {
    if (out.isClosed) return;
    out.line(line);
    count += 1;
    if (count % linesAhead === 0) await out.flushed();
  }
}

/** Writes lines to a file. The file is complete or does not exist: a failed write leaves nothing. */
export async function writeLines(
  path: string,
  lines: AsyncIterable<string> | Iterable<string>,
  { force }: { force: boolean },
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const stream = createWriteStream(temporary, { flags: "wx", mode: 0o600 });
    // Rejects also before the stream is awaited: a full disk shows in the middle.
    const ended = finished(stream);
    ended.catch(() => {});
    for await (const line of lines) {
      if (stream.destroyed) break;
      if (!stream.write(`${line}\n`)) await Promise.race([once(stream, "drain"), ended]);
    }
    stream.end();
    await ended;
    await place(temporary, path, force);
  } catch (cause) {
    if (TroupeError.is(cause)) throw cause;
    throw notWritten(path, cause);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

/** `link` fails if the file exists, and `rename` replaces it. */
async function place(temporary: string, path: string, force: boolean): Promise<void> {
  const handle = await open(temporary);
  await handle.sync();
  await handle.close();
  if (force) await rename(temporary, path);
  else await link(temporary, path);
}

export function notWritten(path: string, cause: unknown): TroupeError {
  const code = errorCodeOf(cause);
  const why =
    code === "EEXIST" ? "it exists already" : code === "ENOSPC" ? "the disk is full" : (code ?? String(cause));
  const fix = code === "EEXIST" ? "name another file, or add --force" : "name a file in a folder that you can write to";
  return new TroupeError("USAGE", `cannot write ${path}: ${why}`, {
    cause,
    fix: code === "ENOSPC" ? "free some disk space" : fix,
  });
}
