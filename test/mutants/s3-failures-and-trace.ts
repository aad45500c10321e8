import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const delegate = `${agent}/delegate.test.ts`;
const plan = `${agent}/plan-batch.test.ts`;
const retry = "packages/core/src/machines/delegation/machine.test.ts";
const stopping = "packages/core/src/machines/delegation/stopping.test.ts";
const batches = "test/delegation/batches.test.ts > with one host";
const siblings = `${delegate} > siblings do not disturb each other > one fails, the others continue, and the results are in call order`;
const trace =
  "test/delegation/trace.test.ts > with one host > the trace of a delegation has parent, child, task, passed context, result and duration, in every branch";

/** Breaks the promises of S3.5 and S3.7: errors, retries and the trace. */
export const mutants: readonly Mutant[] = [
  {
    name: "a refused circle has the wrong type",
    rows: ["S3.5a"],
    file: `${agent}/plan-batch.ts`,
    find: 'if (chain.includes(id)) return delegateRefusal("permission",',
    replace: 'if (chain.includes(id)) return delegateRefusal("params",',
    tests: [`${plan} > a refused delegation starts no task:`],
  },
  {
    name: "every type of error is retried",
    rows: ["S3.5b"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "if (success || !error || !retry.on.includes(error.type) || request.agent",
    replace: "if (success || !error || request.agent",
    tests: [`${retry} > a retry`],
  },
  {
    name: "the pauses between attempts do not grow",
    rows: ["S3.5b"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "retry.backoffMs * 2 ** (request.attempt - 1)",
    replace: "retry.backoffMs * request.attempt ** 0",
    tests: [`${retry} > a retry`],
  },
  {
    name: "the retry policy of a call is ignored",
    rows: ["S3.5b"],
    file: `${agent}/plan-batch.ts`,
    find: "retry: { ...target.retry, ...task.retry, alternative:",
    replace: "retry: { ...target.retry, alternative:",
    tests: [`${plan} > the retry policy`],
  },
  {
    name: "the retry policy of an agent file is ignored",
    rows: ["S3.5b"],
    file: `${agent}/plan-batch.ts`,
    find: "retry: { ...target.retry, ...task.retry, alternative:",
    replace: "retry: { ...target.retry, backoffMs: 1, ...task.retry, alternative:",
    tests: [`${plan} > the retry policy`],
  },
  {
    name: "the alternative is the same agent again",
    rows: ["S3.5c"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "return alternative === null ? null : { ...next, agent: alternative, workspace };",
    replace: "return alternative === null ? null : { ...next, workspace };",
    tests: [
      `${stopping} > the alternative`,
      `${plan} > the retry policy > uses another agent at the end, with a run of its own`,
    ],
  },
  {
    name: "no alternative is tried",
    rows: ["S3.5c", "S3.5e"],
    file: "packages/core/src/machines/delegation/machine.ts",
    find: "return alternative === null ? null : { ...next, agent: alternative, workspace };",
    replace: "return alternative === null ? null : alternative === request.task ? { ...next, workspace } : null;",
    tests: [`${batches} > a failing agent is retried as often as its policy allows, and then an alternative runs`],
  },
  {
    name: "a failed child is a success for the parent's model",
    rows: ["S3.5d", "S3.5e", "S3.15.11"],
    file: `${agent}/calls.ts`,
    find: "JSON.stringify(resultOf(first.response, detailsOf)), isError: !first.response.success };",
    replace: "JSON.stringify(resultOf(first.response, detailsOf)), isError: false };",
    tests: [siblings],
  },
  {
    name: "the record keeps no error of a run",
    rows: ["S3.5e"],
    file: "packages/recorder/src/record/projection.ts",
    find: "error: error?.message ?? null,",
    replace: "error: null,",
    tests: [trace],
  },
  {
    name: "the record counts no attempts",
    rows: ["S3.5e"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "return { ...queued({ ...shared, requestType, attempt, maxAttempts: attempt }, atMs), team };",
    replace: "return { ...queued({ ...shared, requestType, attempt: 1, maxAttempts: attempt }, atMs), team };",
    tests: [`${batches} > a failing agent is retried as often as its policy allows, and then an alternative runs`],
  },
  {
    name: "the record has no duration of a run",
    rows: ["S3.7a"],
    file: "packages/recorder/src/record/projection.ts",
    find: "durationMs: metrics.durationMs,",
    replace: "durationMs: null,",
    tests: [trace],
  },
  {
    name: "the record has no context mode of a run",
    rows: ["S3.7a"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "const shared = { session, run, parentRun, agent, depth, task, contextMode };",
    replace:
      'const shared = { session, run, parentRun, agent, depth, task, contextMode: contextMode && ("task_only" as const) };',
    tests: [trace],
  },
  {
    name: "every run of the record is a root",
    rows: ["S3.7a", "S3.15.9"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: "const parentRun = request.parent?.run ?? null;",
    replace: "const parentRun = request.parent?.run.slice(0, 0) || null;",
    tests: [trace],
  },
  {
    name: "the first entry of a run lacks the passed context",
    rows: ["S3.7b"],
    file: "packages/runtime/src/host/claim/open-run.ts",
    find: 'const opened: EntryBody = { kind: "run.opened", request, pin: spec };',
    replace: 'const opened: EntryBody = { kind: "run.opened", request: { ...request, context: null }, pin: spec };',
    tests: [trace],
  },
  {
    name: "the passed context is empty",
    rows: ["S3.7b"],
    file: `${agent}/children.ts`,
    find: "context: conversationFor(context, task), ...taintField",
    replace: 'context: conversationFor(context, task) === null ? null : "", ...taintField',
    tests: [trace],
  },
  {
    name: "the tree of a session is flat",
    rows: ["S3.7c", "S3.15.9"],
    file: "packages/cli/src/render/tree.ts",
    find: "known.has(run.parentRun) ? run.parentRun : null;",
    replace: "known.has(run.parentRun) ? null : run.parentRun;",
    tests: [
      "packages/cli/src/render/render.test.ts > a session as a tree > shows branches, a glyph with a word, task, time and attempts, in the order of their start",
    ],
  },
  {
    name: "the page does not show the passed context",
    rows: ["S3.7d"],
    file: "apps/dashboard/src/features/run/passed-context.tsx",
    find: "{context !== null && <LongText text={context} />}",
    replace: "{context !== null && <LongText text={run.task} />}",
    tests: [
      "test/browser/live-tree.test.ts > the live tree > shows the context that a parent passed to a child, as text",
    ],
  },
];
