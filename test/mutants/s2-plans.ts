import type { Mutant } from "./mutant.ts";

const plans = "test/troupe/plans.test.ts > an execution";
const runner = "packages/core/src/plan/play-plan.ts";
const runnerTest = "packages/core/src/plan/play-plan.test.ts";
const resultFile = "packages/core/src/plan/plan-result.ts";
const problemsFile = "packages/core/src/plan/plan-problems.ts";
const nextSession = "packages/troupe/src/plans/next-session.ts";

const afterFailure = `${plans} > stops at a failed step, and the next execution repeats only incomplete steps`;
const withReview = `${plans} > researches, then implements, with a review that leads to a second change`;
const inParallel = `${plans} > researches in parallel, and one step reads all findings`;
const withCriteria = `${plans} > gives each step its criteria and its limits, and its result has the use of its own runs`;
const ofTeam = `${plans} > of a team's plan is made and carried out by the agents of the team, and its sessions replay`;
const refusal = `${plans} > does not begin with a plan that cannot be executed`;
const killed =
  "test/e2e/plans.test.ts > makes a plan, executes the edited file, and after a kill continues at the step where it was";
const guide = "test/e2e/plans-guide.test.ts > the guide to plans works as it is written";

/** Breaks the promises of S2.14: plans. */
export const mutants: readonly Mutant[] = [
  {
    name: "a plan with a cycle is executed",
    rows: ["S2.14a"],
    file: problemsFile,
    find: "findCycle(withKnownEdges(steps, ids))",
    replace: "findCycle(withKnownEdges(steps, []))",
    tests: [refusal],
  },
  {
    name: "a plan with an unknown agent is executed",
    rows: ["S2.14a", "S2.14j"],
    file: problemsFile,
    find: "...(findAgentId(agent, known) === null ? [unknownAgentAt(",
    replace: '...(agent === "" ? [unknownAgentAt(',
    tests: [refusal, killed],
  },
  {
    name: "the limits of a step are dropped",
    rows: ["S2.14b"],
    file: runner,
    find: "    ...limitsOf(step),\n",
    replace: "",
    tests: [withCriteria],
  },
  {
    name: "a step waits for no other",
    rows: ["S2.14b", "S2.14f"],
    file: runner,
    find: "const before = step.after.flatMap(",
    replace: "const before = step.after.slice(0, 0).flatMap(",
    tests: [`${runnerTest} > the first turn`, inParallel],
  },
  {
    name: "independent steps run one after the other",
    rows: ["S2.14f"],
    file: runner,
    find: 'mode: "parallel_streaming" } as',
    replace: 'mode: "sequential" } as',
    tests: [`${runnerTest} > the first turn`],
  },
  {
    name: "the work of a step is not in its use",
    rows: ["S2.14c"],
    file: resultFile,
    find: "const usage = addUsage([usageOf([...outcome.runs, ...outcome.reviews], runs)",
    replace: "const usage = addUsage([usageOf([...outcome.reviews], runs)",
    tests: [withCriteria],
  },
  {
    name: "the error of a step is lost",
    rows: ["S2.14c"],
    file: resultFile,
    find: '(response.error?.message ?? "stopped") : outcome.error;',
    replace: '(response.error?.message ?? "stopped") : null;',
    tests: [afterFailure],
  },
  {
    name: "the sums of a plan are those of its first step",
    rows: ["S2.14d"],
    file: resultFile,
    find: "totals: addUsage(steps.map(({ usage }) => usage)),",
    replace: "totals: addUsage(steps.slice(0, 1).map(({ usage }) => usage)),",
    tests: [withReview],
  },
  {
    name: "a failed plan is a success",
    rows: ["S2.14d", "S2.14h"],
    file: "packages/core/src/machines/agent/outcomes.ts",
    find: "return { outcome: failure === null ? completedOutcome",
    replace: "return { outcome: failure !== undefined ? completedOutcome",
    tests: [afterFailure],
  },
  {
    name: "a planner's plan with unknown agents is accepted",
    rows: ["S2.14e"],
    file: "packages/core/src/plan/plan-draft.ts",
    find: "return findPlanProblems(plan.data, known).map(({ message, fix }) => `${message} (${fix})`);",
    replace: "return findPlanProblems(plan.data, known).slice(0, 0).map(({ message, fix }) => `${message} (${fix})`);",
    tests: ["test/troupe/plans.test.ts > a plan for a goal"],
  },
  {
    name: "the plan of a team comes from the planner without a team",
    rows: ["S2.14e"],
    file: "packages/runtime/src/service/plan-fields.ts",
    find: 'return own ?? chooseAgent(registry, { agent: "planner" }, "planner");',
    replace: 'return chooseAgent(registry, { agent: own ? "planner" : "planner" }, "planner");',
    tests: [ofTeam],
  },
  {
    name: "a review is left out",
    rows: ["S2.14g"],
    file: runner,
    find: '.filter(({ phase }) => phase === "worked")',
    replace: '.filter(({ phase }) => phase === "worked" && isStopped)',
    tests: [`${runnerTest} > a review`],
  },
  {
    name: "a step with findings is not mended",
    rows: ["S2.14g"],
    file: "packages/core/src/plan/plan-state.ts",
    find: "if (state.tries < triesMax) {",
    replace: "if (state.tries > triesMax) {",
    tests: [withReview],
  },
  {
    name: "a failed step stops nothing",
    rows: ["S2.14h"],
    file: runner,
    find: 'const isStopped = isLastTurn || [...state.values()].some(({ phase }) => phase === "failed");',
    replace: 'const isStopped = isLastTurn || [...state.values()].some(({ phase }) => phase === "skipped");',
    tests: [`${runnerTest} > a failed step`],
  },
  {
    name: "the tool calls of a plan are not added up",
    rows: ["S2.14i"],
    file: resultFile,
    find: "toolCalls: sum(({ toolCalls }) => toolCalls),",
    replace: "toolCalls: 0,",
    tests: [inParallel],
  },
  {
    name: "the use of earlier sessions is lost",
    rows: ["S2.14i"],
    file: resultFile,
    find: "const earlier = addUsage([usage, ...(",
    replace: "const earlier = addUsage([...(",
    tests: [withReview],
  },
  {
    name: "a plan overwrites a file",
    rows: ["S2.14j"],
    file: "packages/cli/src/commands/plan.ts",
    find: "  if (existsSync(file)) {",
    replace: "  if (existsSync(`${file}.old`)) {",
    tests: [guide],
  },
  {
    name: "a completed step is repeated",
    rows: ["S2.14k"],
    file: nextSession,
    find: "const done = known.filter(({ id, key }) => keys.get(id) === key && id !== only);",
    replace: "const done = known.slice(0, 0);",
    tests: [afterFailure],
  },
  {
    name: "a plan begins afresh after a kill",
    rows: ["S2.14k"],
    file: nextSession,
    find: "return derivedId(`plan/${plan}/${attempt}`);",
    replace: "return derivedId(`plan/${plan}/${attempt}/${Date.now()}`);",
    tests: [killed],
  },
];
