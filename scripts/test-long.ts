import { run } from "./lib/command.ts";

// `pnpm test:long`: what takes too long for `pnpm test`.

const steps = [[process.execPath, "scripts/mutants.ts"]];
for (const step of steps) {
  const { code } = await run(step);
  if (code !== 0) process.exitCode = 1;
}
