import type { Mutant } from "./mutant.ts";

const answers = "packages/core/src/machines/agent/domain-answer.test.ts";
const response = `${answers} > the response of a domain agent`;
const fourExamples = "packages/connectors/src/handlers/domains/four-examples.test.ts";
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
  {
    name: "the seconds until a retry are milliseconds",
    rows: ["S4.6b"],
    file: answerFile,
    find: "{ retryAfter: retryAfterMs / 1_000 }",
    replace: "{ retryAfter: retryAfterMs }",
    tests: [
      `${answers} > a run with a handler > does not repeat a turn that failed: its tools have tried again themselves`,
    ],
  },
  {
    name: "an error of another type keeps it in a domain response",
    rows: ["S4.6b"],
    file: answerFile,
    find: 'type: known.success ? known.data : "tool_error",',
    replace: 'type: known.success ? known.data : "auth",',
    tests: [`${response} > of another end of the run has one of the six types`],
  },
  {
    name: "every request understood by a pattern is of low risk",
    rows: ["S4.8d"],
    file: "packages/connectors/src/handlers/base/define-domain-agent.ts",
    find: "risk: prepared.risk ?? risk,",
    replace: 'risk: "low",',
    tests: [`${fourExamples} > a team meeting is created after a look for conflicts`],
  },
  {
    name: "people outside leave the risk of the pattern",
    rows: ["S4.8d"],
    file: "packages/connectors/src/handlers/base/define-domain-agent.ts",
    find: "risk: prepared.risk ?? risk,",
    replace: "risk,",
    tests: [`${fourExamples} > a project update goes to two people outside, and its delivery is checked`],
  },
];
