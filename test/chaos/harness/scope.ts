import type { TestContext } from "vitest";

/** Registers cleanup steps that run at the end of a test or of a command. */
export type Scope = Pick<TestContext, "onTestFinished">;

type Step = Parameters<Scope["onTestFinished"]>[0];

/** Runs a function with its own scope. Cleanup steps run in reverse order, also after a failure. */
export async function within<T>(act: (scope: Scope) => Promise<T>): Promise<T> {
  const steps: (() => unknown)[] = [];
  const scope: Scope = { onTestFinished: (step: Step) => void steps.push(step as () => unknown) };
  try {
    return await act(scope);
  } finally {
    for (const step of steps.reverse()) await step();
  }
}
