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
