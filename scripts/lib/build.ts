import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { takeLock } from "./build-lock.ts";
import { pnpmCommand, run, say } from "./command.ts";
import { fingerprint, isFresh, stampFile } from "./freshness.ts";
import { root } from "./project.ts";

/**
 * Builds all packages with turbo, everything it says on stderr; one build at a time per checkout. Resolves to whether
 * it succeeded. With `onlyIfStale` another process's build, waited for, is taken as ours.
 */
export async function build(options: { onlyIfStale: boolean }): Promise<boolean> {
  const stamp = stampFile(root);
  const release = takeLock(`${stamp}.lock`, () => say("troupe: waiting for another build of this checkout"));
  try {
    if (options.onlyIfStale && isFresh(root)) return true;
    // Taken before the build: a file saved meanwhile makes the stamp stale, as it should be.
    const before = fingerprint(root);
    rmSync(stamp, { force: true });
    if (!(await runTurbo())) return false;
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, before);
    return true;
  } finally {
    release();
  }
}

/** `pnpm exec` finds turbo; turbo in turn needs a pnpm on the PATH to run each package's build. */
async function runTurbo(): Promise<boolean> {
  const turbo = ["exec", "turbo", "run", "build", "--output-logs=errors-only", "--ui=stream"];
  const { code } = await run([...pnpmCommand(), ...turbo], { output: "stderr" });
  return code === 0;
}
