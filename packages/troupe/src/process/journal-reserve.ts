import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type Journal, type Logger, TroupeError } from "@troupe/core";
import { readVolumeSpace } from "@troupe/tools";

export interface ReserveOptions {
  file: string;
  logger: Pick<Logger, "warn">;
}

const megabyte = 1024 ** 2;
const reserveBytesMax = 16 * megabyte;
/** Of a volume so small that the reserve would be most of it. */
const reserveShareMax = 1 / 50;
/** The reserve is made only if the volume has this many times its size free. */
const freeTimesMin = 4;
const makeAgainMs = 30_000;

/**
 * A journal that keeps a file of some megabytes on its disk and gives it up when a write finds the disk full: the outcomes
 * of calls that are running can then still be stored. The file is made again when the disk has space.
 */
export async function withReserve(journal: Journal, { file, logger }: ReserveOptions): Promise<Journal> {
  let madeAtMs = 0;
  let isMaking = false;
  const make = async (): Promise<void> => {
    if (isMaking || performance.now() - madeAtMs < makeAgainMs) return;
    isMaking = true;
    await makeReserve(file).catch(() => rm(file, { force: true }).catch(() => {}));
    madeAtMs = performance.now();
    isMaking = false;
  };
  madeAtMs = -makeAgainMs;
  await make();

  const withSpace = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const result = await write();
      void make();
      return result;
    } catch (error) {
      if (!(error instanceof TroupeError) || error.code !== "HOME_UNWRITABLE" || !(await giveUp(file))) throw error;
      madeAtMs = performance.now();
      logger.warn({ file }, "the disk of the journal is full: its reserve is used");
      return await write();
    }
  };

  return {
    append: (append) => withSpace(() => journal.append(append)),
    appendInbox: (item) => withSpace(() => journal.appendInbox(item)),
    readRun: (session, run, from) => journal.readRun(session, run, from),
    lastOf: (session, run) => journal.lastOf(session, run),
    readInbox: (session, afterSeq) => journal.readInbox(session, afterSeq),
    openRuns: (of) => journal.openRuns(of),
    id: () => journal.id(),
    checkpoint: (follower, position) => journal.checkpoint(follower, position),
    tail: () => journal.tail(),
    watch: (options) => journal.watch(options),
    ...(journal.archive ? { archive: journal.archive } : {}),
    close: () => journal.close(),
  };
}

async function makeReserve(file: string): Promise<void> {
  const space = await readVolumeSpace(dirname(file));
  if (space === null) return;
  const bytes = Math.floor(Math.min(reserveBytesMax, space.totalBytes * reserveShareMax));
  const known = await stat(file).catch(() => null);
  if (known !== null && known.blocks * 512 >= bytes) return;
  if (space.freeBytes < bytes * freeTimesMin) return;
  await using handle = await open(file, "w", 0o600);
  const block = Buffer.alloc(Math.min(bytes, megabyte), 1);
  for (let left = bytes; left > 0; left -= block.byteLength) await handle.write(block.subarray(0, left));
}

/** Returns whether there was a reserve. */
async function giveUp(file: string): Promise<boolean> {
  const known = await stat(file).catch(() => null);
  if (known === null) return false;
  await rm(file, { force: true });
  return true;
}
