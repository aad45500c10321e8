import { readFileSync } from "node:fs";
import { type ChangedNames, type ChangeReader, type ChangeReaderOptions, createChangeReader } from "./change-reader.ts";
import type { Scan } from "./scan.ts";

/** A reader of changes that starts when it is needed and ends when it is not used. Without perl it answers nothing. */
export interface HeldReader extends Disposable {
  /** Holds the folders of a scan, and no others. Returns whether it held them already. */
  hold(scan: Scan): boolean;
  /** Everything that changed from a time on; null if it holds nothing. */
  changedSince(timeS: number): Promise<ChangedNames | null>;
  /** Whether certainly no program changed a held folder or its entries since the last `changedSince` began. */
  isQuiet(): Promise<boolean>;
  /** Ends its processes: they start again at the next `hold`. */
  release(): void;
}

/** The processes need memory for all names. */
const foldersMax = 50_000;
/** The kernel limits the watched folders of a user. Other programs need them, too. */
const watchedMax = 10_000;
const watchedShare = 1 / 4;
const idleMs = 10 * 60_000;
const failuresMax = 3;

export function createHeldReader(options: Omit<ChangeReaderOptions, "isWatching">): HeldReader {
  let reader: ChangeReader | null = null;
  let failures = 0;
  let idle: NodeJS.Timeout | null = null;

  const release = (): void => {
    reader?.[Symbol.dispose]();
    reader = null;
    if (idle !== null) clearTimeout(idle);
  };
  const answerOf = async <T>(question: (known: ChangeReader) => Promise<T>, otherwise: T): Promise<T> => {
    if (reader === null) return otherwise;
    try {
      return await question(reader);
    } catch {
      failures += 1;
      release();
      return otherwise;
    }
  };

  return {
    hold(scan) {
      if (failures >= failuresMax || scan.size > foldersMax) {
        release();
        return false;
      }
      if (idle !== null) clearTimeout(idle);
      idle = setTimeout(release, idleMs).unref();
      reader ??= createChangeReader({ ...options, isWatching: scan.size <= watchedFolders() });
      return reader.hold(scan);
    },
    changedSince: (timeS) => answerOf((known) => known.changedSince(Math.floor(timeS)), null),
    isQuiet: () => answerOf((known) => known.isQuiet(), false),
    release,
    [Symbol.dispose]: release,
  };
}

function watchedFolders(): number {
  try {
    const ofUser = Number(readFileSync("/proc/sys/fs/inotify/max_user_watches", "utf8"));
    return Math.min(watchedMax, ofUser * watchedShare);
  } catch {
    return 0;
  }
}
