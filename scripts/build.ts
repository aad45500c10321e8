import { build } from "./lib/build.ts";

// `pnpm build`: always asks turbo, which skips what has not changed.
process.exitCode = (await build({ onlyIfStale: false })) ? 0 : 1;
