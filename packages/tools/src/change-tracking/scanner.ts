import { ScanFailedError, scanWithFind } from "./find-scan.ts";
import { scanWithNode } from "./node-scan.ts";
import { isUtf8, type Scan, stampsIn } from "./scan.ts";

export interface ScanBounds {
  /** Size of the list of all names and stamps. */
  bytesMax: number;
  timeoutMs: number;
  /** Up to this many names, the scan runs in this process. */
  namesInProcessMax: number;
}

export const scanBounds: ScanBounds = { bytesMax: 64 * 1024 * 1024, timeoutMs: 10_000, namesInProcessMax: 1_500 };

/** Scans one folder repeatedly, in the way that is fastest for its size. */
export interface Scanner {
  /** Throws a `ScanFailedError` if the folder is too large. */
  scan(): Promise<Scan>;
}

/** Without `find`, larger folders are scanned in this process, up to this many names. */
const namesWithoutFindMax = 20_000;

export function createScanner(root: string, bounds: ScanBounds = scanBounds): Scanner {
  const { namesInProcessMax, bytesMax, timeoutMs } = bounds;
  let isSmall = true;
  let apart: readonly string[] | null = null;

  return {
    async scan() {
      if (isSmall) {
        const small = scanWithNode(root, namesInProcessMax);
        if (small) return small;
      }
      isSmall = false;
      try {
        const scan = await scanWithFind({ root, apart: apart ?? [], bytesMax, timeoutMs });
        apart ??= halfOf(scan);
        return scan;
      } catch (error) {
        if (!(error instanceof ScanFailedError && error.needsOtherProgram)) throw error;
        const scan = scanWithNode(root, namesWithoutFindMax);
        if (scan === null) throw new ScanFailedError("it has too many files for a machine without GNU find");
        return scan;
      }
    },
  };
}

const apartMax = 100;

/** Top folders with about half of the names, for a second process. */
function halfOf(scan: Scan): string[] {
  const counts = new Map<string, number>();
  let all = 0;
  for (const path of stampsIn(scan).keys()) {
    all += 1;
    const end = path.indexOf("/");
    const top = path.slice(0, end);
    if (end !== -1 && isUtf8(top)) counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  const chosen: string[] = [];
  let left = all / 2;
  for (const [top, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (count > left * 1.2 || chosen.length >= apartMax) continue;
    chosen.push(Buffer.from(top, "latin1").toString("utf8"));
    left -= count;
  }
  return chosen;
}
