import { join, relative } from "node:path";
import { createVitest, type TestCase, type TestModule } from "vitest/node";
import type { TestReply, TestRequest } from "./warm-tests.ts";

/**
 * The process of `WarmTests`, in the folder of the checkout: a vitest that keeps its configuration and the compiled form of each
 * module between two runs. Each run has a new worker, so the modules of one run are not those of the next.
 */
const root = process.cwd();
const vitest = await createVitest("test", { watch: false, maxWorkers: 1, reporters: [{}] });
await vitest.standalone();

process.once("disconnect", () => process.exit());
process.on("message", (request: TestRequest) => {
  runFile(request).then(reply, (error) => reply({ tests: [], problem: messageOf(error), durationMs: 0 }));
});

function reply(message: TestReply): void {
  process.send?.(message);
}

async function runFile({ file, pattern, long, bail, changed }: TestRequest): Promise<TestReply> {
  for (const path of changed) vitest.invalidateFile(path);
  for (const project of vitest.projects) project.provide("long", long);
  vitest.config.bail = bail ? 1 : 0;
  vitest.setGlobalTestNamePattern(new RegExp(pattern));
  const path = join(root, file);
  const found = await vitest.globTestSpecifications([path]);
  const beganMs = performance.now();
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    found.filter(({ moduleId }) => moduleId === path),
  );
  const module = testModules.find(({ moduleId }) => moduleId === path);
  return {
    tests: [...(module?.children.allTests() ?? [])].map(toResult),
    problem: problemOf(module) ?? (unhandledErrors[0] === undefined ? null : messageOf(unhandledErrors[0])),
    durationMs: performance.now() - beganMs,
  };
}

function toResult(test: TestCase): TestReply["tests"][number] {
  const { state } = test.result();
  return {
    file: relative(root, test.module.moduleId),
    titles: titlesOf(test),
    status: state === "pending" ? "skipped" : state,
    assertions: test.meta().assertions ?? 0,
  };
}

function titlesOf(test: TestCase): string[] {
  const titles = [test.name];
  for (let { parent } = test; parent.type === "suite"; { parent } = parent) titles.unshift(parent.name);
  return titles;
}

/** A failure outside of all tests: the file did not load, or a hook threw. */
function problemOf(module: TestModule | undefined): string | null {
  if (!module) return "vitest has no such file";
  const suites = [...module.children.allSuites()];
  const error = [module, ...suites].flatMap((one) => one.errors())[0];
  return error?.message.split("\n")[0] ?? null;
}

/** Vitest passes on errors of a worker as plain objects. */
function messageOf(error: unknown): string {
  const isMessage = typeof error === "object" && error !== null && "message" in error;
  return isMessage ? String(error.message).split("\n", 1)[0] || "an error without a message" : "an unknown error";
}
