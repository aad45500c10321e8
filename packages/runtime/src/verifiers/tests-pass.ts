import type { BuiltinVerifier } from "./verifier.ts";

/** Checks that tests ran and all of them passed, by the counts of the `test` tool. Words of the answer do not count. */
export const testsPass: BuiltinVerifier<"tests-pass"> = async ({
  response,
  runTool,
  params: { run, paths, minimum },
}) => {
  if (!run) return problemsOf({ run: response.testsRun, passed: response.testsPassed }, minimum);
  if (!runTool) return ["tests-pass: no tests can be run here"];
  const { tests, error, output } = await runTool("test", { paths });
  if (!tests) return [`the tests did not run: ${error?.message ?? output.slice(0, 500)}`];
  const problems = problemsOf({ run: tests.run, passed: tests.passed }, minimum);
  return problems.length > 0 || error === null ? problems : [`the tests failed: ${error.message}`];
};

function problemsOf({ run, passed }: { run: number; passed: number }, minimum: number): string[] {
  if (run < minimum) return [`${run} tests ran, and at least ${minimum} had to: run them with the test tool`];
  return passed < run ? [`${run - passed} of ${run} tests did not pass`] : [];
}
