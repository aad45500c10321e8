import type { Mutant } from "./mutant.ts";

const agent = "packages/core/src/machines/agent";
const batch = `${agent}/batch.test.ts`;
const delegate = `${agent}/delegate.test.ts`;
const streaming = `${agent}/streaming.test.ts`;
const scheduler = "packages/core/src/machines/batch/scheduler.test.ts";
const result = "packages/core/src/delegation/result.test.ts";
const source = "packages/roles/src/agent-source.test.ts";
const host = "packages/runtime/src/host/actor-host.test.ts";
const limits = "test/delegation/pains-limits.test.ts > with one host";
const batches = "test/delegation/batches.test.ts > with one host";
const uses = "test/delegation/use-cases.test.ts > with one host";
const callMode = `${batch} > sequential > the mode of a call wins over the mode of the agent`;
const queue = `${delegate} > delegations queue beyond maxConcurrent`;
const inOrder = `${batch} > a batch > has its result when all tasks have ended, in the order of the tasks`;
const capacity = `${host} > a host > calls models for at most as many runs at once as it has capacity, over all sessions and their children`;
const coordinator = `${uses} > a research coordinator asks three specialists at once and reports their findings`;
const review = `${uses} > a review of a change combines three parts, each with the change as context, though one of them fails`;
const pipeline = `${uses} > a data pipeline fetches in parallel, then transforms, then reports in parallel`;

/** Breaks the promises of S3.8, S3.9 and S3.14: modes, dependencies and concurrency. */
export const mutants: readonly Mutant[] = [
  {
    name: "the tasks of every batch run one at a time",
    rows: ["S3.8a", "S3.15.13", "S3.15.14"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: 'return { ready: plan.mode === "sequential" ? nextInSequence(items, free) : free, drop, stop: [] };',
    replace: "return { ready: nextInSequence(items, free), drop, stop: [] };",
    tests: [`${batch} > a batch`, `${scheduler} > the order of tasks`, coordinator],
  },
  {
    name: "the children of a run start one at a time",
    rows: ["S3.8a", "S3.14a", "S3.15.13"],
    file: `${agent}/children.ts`,
    find: "Math.max(0, pin.limits.maxConcurrent - children.size);",
    replace: "Math.max(0, Math.min(1, pin.limits.maxConcurrent) - children.size);",
    tests: [coordinator, `${batches} > single calls of one turn also run in parallel`],
  },
  {
    name: "the first result of a stream waits for the last",
    rows: ["S3.8b", "S3.15.14"],
    file: `${agent}/batches.ts`,
    find: 'if (batch.plan.mode !== "parallel_streaming" || runningTasks(after).length === 0) return rest;',
    replace: 'if (batch.plan.mode !== "sequential" || runningTasks(after).length === 0) return rest;',
    tests: [`${streaming} > the first result`],
  },
  {
    name: "later results of a stream do not reach the model",
    rows: ["S3.8b", "S3.15.14"],
    file: `${agent}/batches.ts`,
    find: "pendingMessages: [...context.pendingMessages, text]",
    replace: "pendingMessages: text ? context.pendingMessages : []",
    tests: [`${streaming} > a later result`],
  },
  {
    name: "a sequential batch starts all tasks",
    rows: ["S3.8c", "S3.15.14"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: "return isBusy ? [] : free.slice(0, 1);",
    replace: "return isBusy ? [] : [...free];",
    tests: [`${batch} > sequential`],
  },
  {
    name: "a sequential batch does not wait for the running task",
    rows: ["S3.8c"],
    file: "packages/core/src/machines/batch/scheduler.ts",
    find: 'const isBusy = items.some(({ phase }) => phase === "ready" || phase === "asked" || phase === "leaving");',
    replace: 'const isBusy = items.some(({ phase }) => phase === "ready" || phase === "leaving");',
    tests: [`${scheduler} > the order of tasks`],
  },
  {
    name: "the mode of a call is ignored",
    rows: ["S3.8d"],
    file: `${agent}/plan-batch.ts`,
    find: 'mode: mode ?? (batch ? context.pin.definition.subagents.execution : "parallel"),',
    replace: 'mode: batch ? context.pin.definition.subagents.execution : (mode ?? "parallel"),',
    tests: [callMode],
  },
  {
    name: "a task does not wait for the tasks before it",
    rows: ["S3.8e", "S3.14c"],
    file: `${agent}/plan-batch.ts`,
    find: "after: after[item] ?? [] })),",
    replace: "after: after[item]?.slice(0, 0) ?? [] })),",
    tests: [`${batch} > a task that depends on others`, pipeline],
  },
  {
    name: "a task does not get the results of the tasks before it",
    rows: ["S3.8e", "S3.14c"],
    file: "packages/core/src/machines/batch/machine.ts",
    find: "const parts = [context, ...results].filter((part) => part !== null);",
    replace: "const parts = [context, ...results.slice(0, 0)].filter((part) => part !== null);",
    tests: [`${batch} > a task that depends on others`, pipeline],
  },
  {
    name: "the files of a review are not passed on",
    rows: ["S3.14b"],
    file: `${agent}/plan-batch.ts`,
    find: "contextFiles: target.domain === null ? task.contextFiles : [],",
    replace: "contextFiles: target.domain === null ? task.contextFiles.slice(0, 0) : [],",
    tests: [review],
  },
  {
    name: "a batch reports no failures",
    rows: ["S3.14b", "S3.9d"],
    file: "packages/core/src/delegation/result.ts",
    find: "failed: results.length - successes(results),",
    replace: "failed: results.length * 0,",
    tests: [review, `${result} > all results of a batch`],
  },
  {
    name: "a host takes tasks over its capacity",
    rows: ["S3.9a", "S3.15.15"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: "(waiting.length > 0 ? 0 : capacity - used);",
    replace: "(waiting.length > 0 ? 0 : capacity);",
    tests: [capacity],
  },
  {
    name: "a run that waited for its children works over the capacity of its host",
    rows: ["S3.9a", "S3.15.15"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: "if (used < capacity && waiting.length === 0) {",
    replace: "if (used < capacity * 1_000 && waiting.length === 0) {",
    tests: [capacity],
  },
  {
    name: "a program cannot set the capacity of its host",
    rows: ["S3.9a"],
    file: "packages/troupe/src/process/local-host.ts",
    find: "createActorHost({ deps, capacity, ...names })",
    replace: "createActorHost({ deps, capacity: capacity * 0 + 64, ...names })",
    tests: ["test/troupe/create-troupe.test.ts > a program > limits the runs that work at once to its capacity"],
  },
  {
    name: "a run that waits for its children keeps its slot",
    rows: ["S3.9a"],
    file: "packages/runtime/src/host/run/slots.ts",
    find: '    this.#state = "none";\n    this.#slots.release();',
    replace: '    this.#state = "held";',
    tests: [`${host} > a host > does not starve nested delegation when every slot is taken by a waiting parent`],
  },
  {
    name: "a run starts all its children at once",
    rows: ["S3.9b", "S3.15.15"],
    file: `${agent}/children.ts`,
    find: "Math.max(0, pin.limits.maxConcurrent - children.size);",
    replace: "Math.max(0, pin.limits.maxConcurrent + children.size);",
    tests: [queue, `${batch} > a batch > shares the slots of its run with the other calls of the turn`],
  },
  {
    name: "the newest delegation in the queue starts first",
    rows: ["S3.9c"],
    file: `${agent}/setup/delegation.ts`,
    find: "const position = readyTasks.shift();",
    replace: "const position = readyTasks.pop();",
    tests: [queue],
  },
  {
    name: "the record has no positions in the queue",
    rows: ["S3.9c"],
    file: "packages/recorder/src/record/run-table.ts",
    find: "queuePosition: positions.get(row.run) ?? null",
    replace: "queuePosition: positions.size > 0 ? null : null",
    tests: [`${limits} > pain 2: children over the cap queue, with known positions, and none is denied`],
  },
  {
    name: "a batch fails with its first task",
    rows: ["S3.9d", "S3.15.16"],
    file: "packages/core/src/delegation/result.ts",
    find: "      return succeeded > 0;",
    replace: "      return succeeded === results.length;",
    tests: [`${result} > all results of a batch`, inOrder],
  },
  {
    name: "the first of two agents with one id wins",
    rows: ["S3.14d", "S3.15a"],
    file: "packages/roles/src/agent-registry.ts",
    find: "for (const [id, agent] of own) byId.set(id, agent);",
    replace: "for (const [id, agent] of own) if (!byId.has(id)) byId.set(id, agent);",
    tests: [`${source} > the agents of a registry`],
  },
  {
    name: "the files of a project's agents are not read",
    rows: ["S3.14d"],
    file: "packages/roles/src/agent-source.ts",
    find: '{ path: join(workspace, ".troupe", "agents"), origin: "project", within: workspace },',
    replace: '{ path: join(workspace, ".troupe", "roles"), origin: "project", within: workspace },',
    tests: [`${source} > the agents of a registry`, coordinator],
  },
];
