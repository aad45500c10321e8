import type { Mutant } from "./mutant.ts";

const answers = "packages/core/src/machines/agent/domain-answer.test.ts";
const response = `${answers} > the response of a domain agent`;
const answerFile = "packages/core/src/machines/agent/domain-answer.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "the seconds of a domain response are milliseconds",
    rows: ["S4.5"],
    file: answerFile,
    find: "execution_time: response.metrics.durationMs / 1_000,",
    replace: "execution_time: response.metrics.durationMs,",
    tests: [`${response} > has one shape, with the results of its tools joined`],
  },
  {
    name: "a domain response forgets the results of its tools",
    rows: ["S4.5"],
    file: answerFile,
    find: "      data: dataOf(results),",
    replace: "      data: response.data,",
    tests: [
      `${response} > has one shape, with the results of its tools joined`,
      "test/delegation/handled-requests.test.ts > a request that a handler understands > is answered without a model, from its intent to the delegation result of its parent",
    ],
  },
  {
    name: "a run whose calls all failed is a success",
    rows: ["S4.5"],
    file: answerFile,
    find: "  if (success && !hasNothing) return null;",
    replace: "  if (success) return null;",
    tests: [`${response} > names the error of a run whose calls all failed, from an object of JSON`],
  },
];
