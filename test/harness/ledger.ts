import { readFile } from "node:fs/promises";
import path from "node:path";

/** A call that was really begun, as the process that made it wrote down: synced to disk before it began. */
export interface LedgerCall {
  pid: number;
  /** Wall clock, just before it was begun. */
  at: number;
  kind: "model" | "tool";
  /** `<run>/<key of the effect>` */
  key: string;
}

/** The ledger of a home: the environment variable that enables it, and its calls. */
export function ledgerOf(home: string) {
  const file = path.join(home, "ledger.jsonl");
  return {
    env: { TROUPE_TEST_LEDGER: file },
    /** In the order in which they were begun; those of some runs only, if these are named. */
    async calls(runs?: readonly string[]): Promise<LedgerCall[]> {
      const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter(Boolean);
      const calls = lines.map((line) => JSON.parse(line) as LedgerCall);
      return runs ? calls.filter(({ key }) => runs.some((run) => key.startsWith(`${run}/`))) : calls;
    },
  };
}

/** Keys that came more than once. */
export function repeatedKeys(keys: readonly string[]): string[] {
  return keys.filter((key, i) => keys.indexOf(key) !== i);
}
