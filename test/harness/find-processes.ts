import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";

/** Seconds for `sleep` by which a command and its processes are known again from outside of their sandbox. */
export const newMark = (): string => `60.${randomInt(1e8, 1e9)}`;

/**
 * The living processes that have a mark in their command line. A command in a sandbox knows its processes by other ids
 * than the machine does. An orphan that has ended is there until the machine's first process has collected it, which in
 * a container can take for ever: it has no command line any more.
 */
export async function findProcesses(mark: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => commandLineOf(id).includes(mark));
}

/** Synchronously: an asynchronous read of each process, many times a second, costs ten times as much. */
function commandLineOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
