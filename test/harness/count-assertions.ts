import { AsyncLocalStorage } from "node:async_hooks";
import { aroundEach, chai } from "vitest";

// Setup file of every test file: writes to each test's `meta.assertions` how many matchers the test called. Vitest's own
// count is shared by all tests that run concurrently, and counts `expect(value)` without a matcher. The JSON report
// carries the number, and scripts/requirements.ts accepts no test with 0 as a proof. A test that passes without a matcher
// fails: it returned early, or its loop had nothing to go over.

declare module "vitest" {
  interface TaskMeta {
    assertions?: number;
  }
}

interface Counter {
  assertions: number;
}

/** Methods of an assertion that compare nothing. */
const noMatchers = new Set(["constructor", "withTest", "withContext"]);

/** Kept on the global object, because files that share a worker load this module again, but chai only once. */
const key = Symbol.for("troupe.countAssertions");
const holder = globalThis as { [key]?: AsyncLocalStorage<Counter> };
holder[key] ??= wrapMatchers();
const storage = holder[key];

aroundEach(async (runTest, { task }) => {
  const counter: Counter = { assertions: 0 };
  await storage.run(counter, runTest);
  task.meta.assertions = counter.assertions;
  if (counter.assertions === 0 && task.result?.state === "pass") throw new Error("this test compared nothing");
});

function wrapMatchers(): AsyncLocalStorage<Counter> {
  const counters = new AsyncLocalStorage<Counter>();
  const { prototype } = chai.Assertion;
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    const matcher: unknown = descriptor.value;
    if (typeof matcher !== "function" || noMatchers.has(name)) continue;
    // An accessor, because a function around the matcher would be the place that a failure points at.
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: descriptor.enumerable ?? false,
      get(): unknown {
        const counter = counters.getStore();
        if (counter) counter.assertions += 1;
        return matcher;
      },
      set(value: unknown) {
        Object.defineProperty(this, name, { configurable: true, writable: true, value });
      },
    });
  }
  return counters;
}
