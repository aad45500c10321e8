import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isFresh } from "./lib/freshness.ts";
import { callerFolder, root } from "./lib/project.ts";

// `pnpm troupe …` and the launcher of `pnpm setup-cli`: the command line of this checkout, built first when it is missing or
// stale. It then runs in this process, so that signals, exit codes and streams are its own.

const main = join(root, "packages", "cli", "dist", "main.js");

if (!isFresh(root)) {
  // Only loaded when needed: the common case must stay quick.
  const { build } = await import("./lib/build.ts");
  // pnpm has checked the installation before it starts a script, and sets INIT_CWD. The launcher does neither.
  const installFirst = process.env.INIT_CWD === undefined;
  if (!(await build({ onlyIfStale: true, installFirst })) || !existsSync(main)) {
    process.stderr.write(`troupe: the build failed, see above\nfix: cd ${root} && npx -y pnpm@12 build\n`);
    process.exit(1);
  }
}

if (process.env.INIT_CWD) process.chdir(callerFolder());

process.argv[1] = main;
await import(pathToFileURL(main).href);
