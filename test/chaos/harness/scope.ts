import type { TestContext } from "vitest";

/** Whoever begins something here says how it is undone: when a test is over, or a command. */
export type Scope = Pick<TestContext, "onTestFinished">;

type Step = Parameters<Scope["onTestFinished"]>[0];

/** Does something within a scope of its own. What was begun is undone in reverse, whatever comes of it. */
export async function within<T>(act: (scope: Scope) => Promise<T>): Promise<T> {
  const steps: (() => unknown)[] = [];
  const scope: Scope = { onTestFinished: (step: Step) => void steps.push(step as () => unknown) };
  try {
    return await act(scope);
  } finally {
    for (const step of steps.reverse()) await step();
  }
}
