import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The log files in a folder of logs, oldest first. */
export function logFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => /^troupe-.*\.log$/.test(name))
    .map((name) => join(folder, name))
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((one, other) => one.at - other.at)
    .map(({ path }) => path);
}
