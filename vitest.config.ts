import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./scripts/lib/longest-first.ts";
import { cacheFolder, compiledFolder } from "./scripts/lib/project.ts";

/**
 * Files that mock no module and leave nothing behind share their workers, because the start of a worker and the loading of
 * our packages cost more than most of them. The others have a process for each file: they change this process for good,
 * or they are themselves many processes that are killed and measured.
 */
const sharing = [
  "apps/*/src/**/*.test.ts",
  "packages/*/src/**/*.test.ts",
  "scripts/**/*.test.ts",
  "test/{browser,chaos/harness,conformance,delegation,harness,home,nats,replay,restore,tools,troupe}/**/*.test.ts",
  // A file in with-worker changes the hosts of all tests that its process loads after it.
  "test/e2e/{,models/,secrets/,trust/}*.test.ts",
];

const all = ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"];

/** Read with `inject("long")`: more moments, seeds and inputs of the same laws (test/harness/long.ts). */
const isLong = process.env.TROUPE_TEST_LONG === "1";

/** `pnpm test:mutants` runs few tests at a time, and a test that a mutant makes wait in vain should turn red soon. */
const isMutant = process.env.TROUPE_TEST_MUTANT === "1";

/**
 * A command in bubblewrap costs half of one in the other sandbox, so tests for which both do use the fetched bubblewrap.
 * packages/tools/src/sandbox tests each kind.
 */
const bwrap = process.env.TROUPE_TEST_BWRAP || join(cacheFolder(), "bubblewrap", "bwrap");
const path = [process.env.PATH, dirname(bwrap)].filter(Boolean).join(delimiter);

/** For `expect.poll`, `vi.waitFor` and `vi.waitUntil`, whose own default is one second. */
const conditionTimeoutMs = isMutant ? 20_000 : 60_000;

export default defineConfig({
  test: {
    // Far beyond what a test takes: two copies of the suite may share the machine.
    testTimeout: isLong ? 600_000 : isMutant ? 60_000 : 180_000,
    hookTimeout: 120_000,
    // Files with processes use three quarters of a core: they wait for leases, kills and pages in between. Four workers on two
    // cores took 2 % less time alone, and tests were red beside a second copy of the suite.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    // A condition may take long on a busy machine. A test that waits in vain ends all the same, and says for what.
    expect: { poll: { timeout: conditionTimeoutMs } },
    setupFiles: ["count-assertions", "exit-listeners", "single-kills", "wait-for-timeout"].map(
      (name) => `test/harness/${name}.ts`,
    ),
    provide: { long: isLong, conditionTimeoutMs },
    unstubEnvs: true,
    unstubGlobals: true,
    env: {
      PATH: path,
      // V8 need not compile vitest anew for each worker.
      NODE_COMPILE_CACHE: compiledFolder,
      // Keys and settings of the developer must not change a result.
      ANTHROPIC_API_KEY: "",
      OPENAI_API_KEY: "",
      OPENAI_BASE_URL: "",
      NATS_URL: "",
      TROUPE_HOME: "",
      TROUPE_MODEL: "",
    },
    projects: [
      { extends: true, test: { name: "alone", include: all, exclude: ["**/node_modules/**", ...sharing] } },
      { extends: true, test: { name: "sharing", include: sharing, isolate: false } },
    ],
  },
});
