import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The checkout that these scripts belong to. */
export const root = join(import.meta.dirname, "..", "..");

/** Folder of vitest's report and of the files that tests keep for inspection. Git ignores it. */
export const artifactsFolder = join(root, "test", ".artifacts");

/** V8's compile cache for scripts and tests. `require-node.cjs` uses the same path. */
export const compiledFolder = join(root, "node_modules", ".cache", "troupe", "compiled");

/** Downloads that outlive a checkout. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  // The XDG specification has relative values ignored.
  const xdg = env.XDG_CACHE_HOME;
  return join(xdg?.startsWith("/") ? xdg : join(homedir(), ".cache"), "troupe-dev");
}

/**
 * The folder in which the user called. pnpm runs a script in the checkout and stores the caller's folder in INIT_CWD. In any
 * other start the working folder is already the caller's, and INIT_CWD may be a leftover of another process.
 */
export function callerFolder(): string {
  const caller = process.env.INIT_CWD;
  return caller && process.cwd() === root && existsSync(caller) ? caller : process.cwd();
}
