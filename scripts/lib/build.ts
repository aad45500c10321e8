import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { takeLock } from "./build-lock.ts";
import { pnpmCommand, run, say } from "./command.ts";
import { cleanEnvironment } from "./environment.ts";
import { fingerprint, isFresh, stampFile } from "./freshness.ts";
import { root } from "./project.ts";

/**
 * Builds all packages with turbo, everything it says on stderr; one build at a time per checkout. Resolves to whether
 * it succeeded. With `onlyIfStale` another process's build, waited for, is taken as ours. With `installFirst` pnpm installs
 * dependencies that do not match the lockfile.
 */
export async function build(options: { onlyIfStale: boolean; installFirst?: boolean }): Promise<boolean> {
  const stamp = stampFile(root);
  const release = takeLock(`${stamp}.lock`, () => say("troupe: waiting for another build of this checkout"));
  try {
    if (options.onlyIfStale && isFresh(root)) return true;
    // Taken before the build: a file saved meanwhile makes the stamp stale, as it should be.
    const before = fingerprint(root);
    rmSync(stamp, { force: true });
    if (!(await runTurbo(options.installFirst === true))) return false;
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, before);
    return true;
  } finally {
    release();
  }
}

/** `pnpm exec` finds turbo; turbo in turn needs a pnpm on the PATH to run each package's build. */
async function runTurbo(installFirst: boolean): Promise<boolean> {
  const turbo = ["exec", "turbo", "run", "build", "--output-logs=errors-only", "--ui=stream"];
  const env = cleanEnvironment();
  if (installFirst) env.pnpm_config_verify_deps_before_run = "install";
  const { code } = await run([...pnpmCommand(), ...turbo], { env, output: "stderr" });
  return code === 0;
}
