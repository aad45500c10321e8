import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isFresh } from "./lib/freshness.ts";
import { root } from "./lib/project.ts";

// `pnpm troupe …`: the command line of this checkout, built first when it is missing or stale. It then runs in this
// process, so that signals, exit codes and streams are its own.

const main = join(root, "packages", "cli", "dist", "main.js");

if (!isFresh(root)) {
  // Only loaded when needed: the common case must stay quick.
  const { build } = await import("./lib/build.ts");
  if (!(await build({ onlyIfStale: true })) || !existsSync(main)) {
    process.stderr.write("troupe: the build failed, see above\nfix: npx -y pnpm@12 build\n");
    process.exit(1);
  }
}

// pnpm runs a script in the checkout and stores the caller's folder in INIT_CWD. In any other start the working folder
// is already the caller's, and INIT_CWD may be a leftover of another process.
const caller = process.env.INIT_CWD;
if (caller && process.cwd() === root && existsSync(caller)) process.chdir(caller);

process.argv[1] = main;
await import(pathToFileURL(main).href);
