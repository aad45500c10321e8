import type { StepState } from "./plan-state.ts";

/** The most characters of all earlier results together that a task gets. */
const resultsCharactersMax = 100_000;
/** The most characters of a result that its reviewer gets. */
const reportCharactersMax = 20_000;

/** The task of a step's agent. Results are quoted as JSON, so that they cannot look like a part of the task. */
export function workTask({ step, outcome, phase }: StepState, before: readonly StepState[]): string {
  const charactersMax = Math.floor(resultsCharactersMax / Math.max(1, before.length));
  const results = before.map(({ step: { id, title }, outcome: { result, summary } }) => {
    const text = (result ?? summary).slice(0, charactersMax);
    return `Result of the step ${id}:\n${JSON.stringify({ title, result: text })}`;
  });
  const findings =
    phase === "returned"
      ? [
          `You did this before, and the result was not approved. Mend these findings:\n${JSON.stringify(outcome.findings)}`,
          `Your result was:\n${JSON.stringify({ result: (outcome.result ?? outcome.summary).slice(0, charactersMax) })}`,
        ]
      : [];
  return [step.task, ...results, ...findings].join("\n\n");
}

/** The task of a reviewer. */
export function reviewTask({ step, outcome, files }: StepState): string {
  const report = {
    agent: step.agent,
    result: (outcome.result ?? outcome.summary).slice(0, reportCharactersMax),
    files,
  };
  const before = outcome.findings.length > 0 ? [`An earlier review found:\n${JSON.stringify(outcome.findings)}`] : [];
  return [
    `Review one step of a plan: ${step.title}`,
    `The task of the step was:\n${step.task}`,
    ...before,
    `The agent reports:\n${JSON.stringify(report)}`,
    "Look at the work itself, not only at the report. Approve it if the task is done. List as findings only necessary changes.",
  ].join("\n\n");
}
