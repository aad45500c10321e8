import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./lib/command.ts";
import { root } from "./lib/project.ts";

// `pnpm test:long`: tests that take too long for `pnpm test`. First the tests with more cases in a long run, with all of
// them; then the mutants.

/** Text of a test file that has more cases in a long run (test/harness/long.ts). */
const longPattern = /inject\("long"\)|from "[./]+harness\/long\.ts"/;

const isLong = (file: string) => longPattern.test(readFileSync(join(root, file), "utf8"));
const testFiles = globSync("{packages,apps,test}/**/*.test.ts", { cwd: root, exclude: ["**/node_modules"] });

const steps = [
  { command: ["scripts/test.ts", ...testFiles.filter(isLong)], env: { ...process.env, TROUPE_TEST_LONG: "1" } },
  { command: ["scripts/mutants.ts"], env: process.env },
];
for (const { command, env } of steps) {
  const { code } = await run([process.execPath, ...command], { env });
  if (code !== 0) process.exitCode = 1;
}
