import type { ChangedNames } from "./change-reader.ts";
import { hasChangeTimes, isClockEven, type Moment, momentNow } from "./change-times.ts";
import { ScanFailedError, scanWithFind } from "./find-scan.ts";
import { createHeldReader } from "./held-reader.ts";
import { readEntries, scanWithNode } from "./node-scan.ts";
import { isUtf8, type Scan, type ScannedFolder } from "./scan.ts";
import { parseScanText } from "./scan-text.ts";
import { updateScan } from "./update-scan.ts";

export interface ScanBounds {
  /** Size of the list of all names and stamps. */
  bytesMax: number;
  timeoutMs: number;
  /** Up to this many names, the scan runs in this process. */
  namesInProcessMax: number;
}

export const scanBounds: ScanBounds = { bytesMax: 64 * 1024 * 1024, timeoutMs: 10_000, namesInProcessMax: 1_500 };

/** Scans one folder repeatedly, in the way that is fastest for its size. */
export interface Scanner extends Disposable {
  /** The same object as before if nothing changed. Throws a `ScanFailedError` if the folder is too large. */
  scan(): Promise<Scan>;
  /**
   * The last scan, if no program has changed the folder since; null if that is not certain. Not for the time in which a
   * command runs: the kernel reports a write to mapped memory only when its program
   * ends.
   */
  lastIfQuiet(): Promise<Scan | null>;
}

/** Without `find`, larger folders are scanned in this process, up to this many names. */
const namesWithoutFindMax = 20_000;
/** With more names to read again, a whole scan is faster. */
const namesReadAgainMax = 4_000;
/** Kernels count file times in steps of up to 10 ms. An entry that is listed once more costs little. */
const marginMs = 100;

export function createScanner(root: string, bounds: ScanBounds = scanBounds): Scanner {
  const { namesInProcessMax, bytesMax, timeoutMs } = bounds;
  let isSmall = true;
  let apart: readonly string[] = [];
  /** The last whole or updated scan, and when it began. */
  let known: { scan: Scan; begun: Moment } | null = null;
  /** Whether the reader notices each change since the last scan began: it held all folders before. */
  let isWatched = false;
  const reader = createHeldReader({ root, timeoutMs, bytesMax });

  const find = (sinceS?: number): Promise<Buffer> =>
    scanWithFind({ root, apart, bytesMax, timeoutMs, ...(sinceS !== undefined && { sinceS }) });

  const changedSince = async (sinceS: number): Promise<ReadonlyMap<string, ScannedFolder> | null> => {
    const names = await reader.changedSince(sinceS);
    isWatched = names !== null;
    if (names === null) return parseScanText(await find(sinceS));
    return names.folders.length + names.entries.length > namesReadAgainMax ? null : foldersOf(root, names);
  };

  /** Reads only the entries that changed since the last scan. Null if the times of files cannot tell it. */
  const update = async (now: Moment): Promise<Scan | null> => {
    if (known === null) return null;
    if (!isClockEven(known.begun, now)) {
      reader.release();
      return null;
    }
    try {
      const changed = await changedSince((known.begun.clockMs - marginMs) / 1000);
      return changed && updateScan({ root, known: known.scan, changed, namesMax: namesReadAgainMax });
    } catch {
      return null;
    }
  };

  const scanAll = async (): Promise<Scan> => {
    try {
      const scan = parseScanText(await find());
      apart = halfOf(scan);
      return scan;
    } catch (error) {
      if (!(error instanceof ScanFailedError && error.needsOtherProgram)) throw error;
      if (apart.length > 0) {
        // All folders of the second process may be gone.
        apart = [];
        return await scanAll();
      }
      const scan = scanWithNode({ root, namesMax: namesWithoutFindMax });
      if (scan === null) throw new ScanFailedError("it has too many files for a machine without GNU find");
      return scan;
    }
  };

  return {
    async scan() {
      if (isSmall) {
        const small = scanWithNode({ root, namesMax: namesInProcessMax });
        if (small) return small;
      }
      isSmall = false;
      const begun = momentNow();
      // A single scan needs no reader.
      const isHoldable = known !== null && hasChangeTimes(root);
      if (!isHoldable) reader.release();
      isWatched = false;
      const updated = isHoldable ? await update(begun) : null;
      const scan = updated ?? (await scanAll());
      known = { scan, begun };
      const holdsAll = isHoldable && reader.hold(scan);
      isWatched &&= holdsAll && updated !== null;
      return scan;
    },
    async lastIfQuiet() {
      if (known === null || !isWatched || !isClockEven(known.begun, momentNow()) || !hasChangeTimes(root)) return null;
      const { scan } = known;
      return (await reader.isQuiet()) ? scan : null;
    },
    [Symbol.dispose]: () => reader[Symbol.dispose](),
  };
}

/** The changed folders, and the changed entries of other folders as they are now. */
function foldersOf(root: string, { folders, entries }: ChangedNames): Map<string, ScannedFolder> {
  const changed = new Map<string, ScannedFolder>();
  const names = new Map<string, string[]>();
  for (const path of entries) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const some = names.get(folder) ?? [];
    names.set(folder, some);
    some.push(path.slice(folder.length));
  }
  for (const [path, some] of names) changed.set(path, { identity: "", entries: readEntries(root, path, some) });
  for (const path of folders) changed.set(path, { identity: "changed", entries: noEntries });
  return changed;
}

const noEntries = Buffer.alloc(0);

const apartMax = 100;

/** Top folders with about half of the entries, for a second process. */
function halfOf(scan: Scan): string[] {
  const sizes = new Map<string, number>();
  let all = 0;
  for (const [path, { entries }] of scan) {
    all += entries.length;
    const top = path.slice(0, path.indexOf("/"));
    if (path !== "" && isUtf8(top)) sizes.set(top, (sizes.get(top) ?? 0) + entries.length);
  }
  const chosen: string[] = [];
  let left = all / 2;
  for (const [top, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
    if (size > left * 1.2 || chosen.length >= apartMax) continue;
    chosen.push(Buffer.from(top, "latin1").toString("utf8"));
    left -= size;
  }
  return chosen;
}
