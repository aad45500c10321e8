import { join } from "node:path";
import { build } from "./lib/build.ts";
import { run } from "./lib/command.ts";
import { root } from "./lib/project.ts";

// `pnpm bench`: rebuilds stale packages, then measures. It prints figures; a slow result is not a failure.

if (!(await build({ onlyIfStale: true }))) process.exit(1);
const bench = join(root, "test", "bench", "main.ts");
const { code } = await run([process.execPath, bench, ...process.argv.slice(2)]);
process.exitCode = code;
