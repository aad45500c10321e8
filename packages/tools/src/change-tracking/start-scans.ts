import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { link, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Scan } from "./scan.ts";
import { parseScanText, scanText } from "./scan-text.ts";

/** A call of a run, as it names the file of its scan. */
interface Call {
  session: string;
  run: string;
  step: number;
  call: number;
}

/**
 * The scans from the start of calls, as files: they survive a kill of this process, so the next one can still tell what a
 * call without an outcome has changed. They need not survive the machine.
 */
export interface StartScans {
  /** Saves the scan of a call. All calls of earlier steps of its run have an outcome by now, so theirs are removed. */
  save(call: Call, scan: Scan): Promise<void>;
  load(call: Call): Scan | null;
  hasAny(): boolean;
}

export function createStartScans(folder: string): StartScans {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fileOf = (call: Call): string => join(folder, `start-${keyOf(call)}`);
  let last: { scan: Scan; file: string } | null = null;
  /** Most commands change nothing: the file of the last scan gets another name. */
  const saveAt = async (file: string, scan: Scan): Promise<void> => {
    if (last?.scan === scan && (await isLinked(last.file, file))) return;
    await writeFile(file, scanText(scan), { mode: 0o600 });
    last = { scan, file };
  };
  return {
    async save(call, scan) {
      const file = fileOf(call);
      await saveAt(file, scan).catch(() => {});
      if (last?.scan === scan) last = { scan, file };
      removeStartScans(folder, call, call.step);
    },
    load(call) {
      try {
        return parseScanText(readFileSync(fileOf(call)));
      } catch {
        return null;
      }
    },
    hasAny: () => namesIn(folder).some((name) => name.startsWith("start-")),
  };
}

async function isLinked(from: string, to: string): Promise<boolean> {
  return await link(from, to).then(
    () => true,
    () => false,
  );
}

/** In no id. */
const separator = "+";

/** Names a call in this process. */
export function keyOf({ session, run, step, call }: Call): string {
  return [session, run, step, call].join(separator);
}

/** Removes the scans of a run: all of them, or those of the steps before one. */
export function removeStartScans(folder: string, { session, run }: Pick<Call, "session" | "run">, before = Infinity) {
  const prefix = `start-${session}${separator}${run}${separator}`;
  for (const name of namesIn(folder)) {
    const step = Number(name.slice(prefix.length).split(separator)[0]);
    if (name.startsWith(prefix) && step < before) rmSync(join(folder, name), { force: true });
  }
}

/** The runs with a saved scan. */
export function runsWithStartScans(folder: string): { session: string; run: string }[] {
  return namesIn(folder).flatMap((name) => {
    const [, session, run] = /^start-([^+]+)\+([^+]+)\+/.exec(name) ?? [];
    return session === undefined || run === undefined ? [] : [{ session, run }];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
