import { spawn } from "node:child_process";
import { entryFormat, folderFormat } from "./scan-text.ts";

export interface FindScanOptions {
  root: string;
  /** Top folders that a second process scans at the same time. Empty: one process scans everything. */
  apart: readonly string[];
  /** Prints only entries that changed after this time, in seconds. @default everything */
  sinceS?: number;
  bytesMax: number;
  timeoutMs: number;
}

/** A scan that could not be made, with the reason for the user. */
export class ScanFailedError extends Error {
  /** Whether the `find` of this machine cannot make scans. */
  readonly needsOtherProgram: boolean;

  constructor(message: string, { needsOtherProgram = false } = {}) {
    super(message);
    this.name = "ScanFailed";
    this.needsOtherProgram = needsOtherProgram;
  }
}

/**
 * Scans a folder with the `find` of the system, which never follows a link. Two processes share the work on two cores.
 * Resolves to the text form of a scan. Throws a `ScanFailedError` if the folder is too large or `find` cannot do it.
 */
export async function scanWithFind({ root, apart, sinceS, ...bounds }: FindScanOptions): Promise<Buffer> {
  const since = sinceS === undefined ? [] : ["-newerct", `@${sinceS.toFixed(3)}`];
  const print = [...since, "(", "-type", "d", "-printf", folderFormat, "-o", "-printf", entryFormat, ")"];
  if (apart.length === 0) return await runFind(root, [".", ...print], bounds);
  const skipped = apart.flatMap((name, i) => [...(i === 0 ? [] : ["-o"]), "-path", `./${quoted(name)}`]);
  const [first, second] = await Promise.all([
    runFind(root, [".", "(", ...skipped, ")", "-type", "d", "-prune", "-o", ...print], bounds),
    runFind(root, [...apart.map((name) => `./${name}`), ...print], bounds),
  ]);
  return Buffer.concat([first, second]);
}

/** A name as a pattern that matches only this name. */
function quoted(name: string): string {
  return name.replace(/[\\*?[\]]/g, "\\$&");
}

type FindBounds = Pick<FindScanOptions, "bytesMax" | "timeoutMs">;

function runFind(root: string, args: readonly string[], { bytesMax, timeoutMs }: FindBounds): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C" };
  const child = spawn("find", [...args], { cwd: root, env, stdio: ["ignore", "pipe", "ignore"] });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = (reason: string): void => {
    child.kill("SIGKILL");
    reject(new ScanFailedError(reason));
  };
  const timer = setTimeout(() => stop(`listing it takes longer than ${timeoutMs / 1000} s`), timeoutMs);
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) stop("it has too many files");
  });
  child.on("error", (error) =>
    reject(new ScanFailedError(`find could not be started: ${error.message}`, { needsOtherProgram: true })),
  );
  child.on("close", (code) => {
    // 1 means that some folders could not be read, or vanished meanwhile.
    if (code === 0 || (code === 1 && bytes > 0)) resolve(Buffer.concat(chunks, bytes));
    else reject(new ScanFailedError(`find ended with ${code}`, { needsOtherProgram: true }));
  });
  return promise.finally(() => clearTimeout(timer));
}
