import { homedir } from "node:os";
import { join } from "node:path";

/** The checkout that these scripts belong to. */
export const root = join(import.meta.dirname, "..", "..");

/** Where vitest leaves its report, and tests what they want looked at. Ignored by git. */
export const artifactsFolder = join(root, "test", ".artifacts");

/** What V8 made of scripts and tests: `require-node.cjs` has the same. */
export const compiledFolder = join(root, "node_modules", ".cache", "troupe", "compiled");

/** Downloads that outlive a checkout. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  // The XDG specification has relative values ignored.
  const xdg = env.XDG_CACHE_HOME;
  return join(xdg?.startsWith("/") ? xdg : join(homedir(), ".cache"), "troupe-dev");
}
