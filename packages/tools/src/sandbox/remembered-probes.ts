import { statSync } from "node:fs";

export interface Probed {
  /** Settings that change the answer. The programs count by themselves. */
  facts: unknown;
  /** Paths of the programs that the test starts; empty for a missing one. */
  programs: readonly string[];
}

/** When a test of a machine succeeded last, in milliseconds of this process's clock. */
const succeeded = new Map<string, number>();

/** Short, because an owner may change what the kernel allows. Then each command fails with a reason until the next test. */
const ageMsMax = 60_000;
const probesMax = 100;

/**
 * Tests once what this machine can do: a process that opens several troupes need not start the same programs for each. A
 * failure is not remembered, and a program that was exchanged is tested again.
 *
 * @param probe resolves to null after a success, else to the reason of the failure
 * @example
 * const reason = await probeOnce({ facts: "--bind-fd", programs: [bwrap] }, () => readHelp(bwrap));
 */
export async function probeOnce(probed: Probed, probe: () => Promise<string | null>): Promise<string | null> {
  const key = JSON.stringify([probed.facts, probed.programs.map(identityOf)]);
  const atMs = succeeded.get(key);
  if (atMs !== undefined && performance.now() - atMs < ageMsMax) return null;
  const reason = await probe();
  if (succeeded.size >= probesMax) succeeded.clear();
  if (reason === null) succeeded.set(key, performance.now());
  else succeeded.delete(key);
  return reason;
}

/** Differs after a program was installed again, exchanged or removed. */
function identityOf(path: string): string {
  const stats = path === "" ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? path : [path, stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(" ");
}
