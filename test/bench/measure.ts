import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Each measurement is a process of its own, so that it starts with a cold heap and cold caches. */
export async function measure<T>(times: number, script: string, ...args: string[]): Promise<T[]> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const measured: T[] = [];
  for (let i = 0; i < times; i += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", file, ...args]);
    measured.push(JSON.parse(stdout) as T);
  }
  return measured;
}
