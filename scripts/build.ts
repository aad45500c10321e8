import { build } from "./lib/build.ts";

// `pnpm build`: always runs turbo, which skips unchanged packages.
process.exitCode = (await build({ onlyIfStale: false })) ? 0 : 1;
