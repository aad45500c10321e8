import { beforeAll, type TestContext } from "vitest";

type Test = Pick<TestContext, "onTestFinished">;

/** One of something for all tests of a file, undone when the last of them is over. */
export function useShared<T>(start: (test: Test) => Promise<T>): () => T {
  let started: { one: T } | undefined;
  beforeAll(async () => {
    const cleanup: Parameters<Test["onTestFinished"]>[0][] = [];
    started = { one: await start({ onTestFinished: (step) => void cleanup.push(step) }) };
    return async (context: TestContext) => {
      for (const step of cleanup.reverse()) await step(context);
    };
  });
  return () => {
    if (!started) throw new Error("used outside of a test");
    return started.one;
  };
}
