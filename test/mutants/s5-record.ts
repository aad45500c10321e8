import type { Mutant } from "./mutant.ts";

const store = "packages/recorder/src/record/record-store.test.ts";
const rows = `${store} > rows`;
const bailedOut = `${rows} > have the value of each column for a run that stopped at a limit`;
const toolCalls = `${rows} > are one message per finished tool call, below the message of its run`;
const projection = "packages/recorder/src/record/projection.ts";
const caps = "packages/core/src/machines/agent/caps.test.ts";
const rendered =
  "packages/runtime/src/host/claim/run-spec.test.ts > the prompt is rendered from the definition, the request and the limits and targets of the run";
const oneHost = "test/delegation/messages.test.ts > with one host";
const deepTree =
  "test/delegation/pains-limits.test.ts > with one host > pain 1: a tree that wants to grow without end stays within its depth, its breadth and its number of runs";

/** Breaks the promises of S5.1, S5.6, S5.8 and S5.11: the record of each run. */
export const mutants: readonly Mutant[] = [
  {
    name: "the index on status is missing",
    rows: ["S5.1a"],
    file: "packages/recorder/src/record/table-migrations.ts",
    find: "CREATE INDEX idx_messages_status ON messages (status);\n",
    replace: "",
    tests: [`${store} > the schema`],
  },
  {
    name: "a message has no foreign key to its parent",
    rows: ["S5.1a"],
    file: "packages/recorder/src/record/table-migrations.ts",
    find: "  FOREIGN KEY (parent_message_id) REFERENCES messages (id),\n",
    replace: "",
    tests: [`${store} > the schema`],
  },
  {
    name: "system_prompt_id is NULL",
    rows: ["S5.1b"],
    file: projection,
    find: "systemPrompt: `${definition.id}@${definitionHash.slice(0, 12)}`",
    replace: "systemPrompt: definition.id && definitionHash ? null : null",
    tests: [bailedOut],
  },
  {
    name: "context_token_count is NULL",
    rows: ["S5.1b"],
    file: projection,
    find: "contextTokens: metrics.contextSize,",
    replace: "contextTokens: null,",
    tests: [bailedOut],
  },
  {
    name: "bailout_reason is NULL",
    rows: ["S5.1b"],
    file: "packages/recorder/src/record/run-table.ts",
    find: 'column: "bailout_reason", encodeFrom: bailoutWord }',
    replace: 'column: "bailout_reason", encodeFrom: () => null }',
    tests: [bailedOut],
  },
  {
    name: "a continued turn counts as a prompt",
    rows: ["S5.1c"],
    file: "packages/recorder/src/record/new-run-record.ts",
    find: 'request.continues === null ? "prompt" : "continuation"',
    replace: 'request.continues === null ? "prompt" : "prompt"',
    tests: [
      "packages/recorder/src/record/turns.test.ts > a session with a second turn > keeps its turns apart in messages",
    ],
  },
  {
    name: "a tool call gets no message",
    rows: ["S5.1c"],
    file: "packages/recorder/src/record/writer.ts",
    find: "if (message) runs.addToolCall(message);",
    replace: "if (!message) return;",
    tests: [toolCalls],
  },
  {
    name: "the message of a tool call has no parent",
    rows: ["S5.1c"],
    file: "packages/recorder/src/record/tool-call-messages.ts",
    find: "(SELECT message_id FROM runs WHERE run_id = ?)",
    replace: "(SELECT NULL FROM runs WHERE run_id = ?)",
    tests: [toolCalls],
  },
  {
    name: "a failed tool call is completed",
    rows: ["S5.1c"],
    file: "packages/recorder/src/record/tool-call-messages.ts",
    find: '? "completed" : "failed"',
    replace: '? "completed" : "completed"',
    tests: [toolCalls],
  },
  {
    name: "a run that reached a limit was not stopped by anything",
    rows: ["S5.1d"],
    file: "packages/recorder/src/record/run-table.ts",
    find: 'return record.exactStatus === "bailed_out" ? "error" : null;',
    replace: "return null;",
    tests: ["packages/recorder/src/record/projection.test.ts > status words"],
  },
  {
    name: "a rejected run keeps its own word for the status",
    rows: ["S5.1d"],
    file: projection,
    find: "status: toRecordStatus(status),",
    replace: 'status: status === "rejected" ? "cancelled" : toRecordStatus(status),',
    tests: ["packages/recorder/src/record/projection.test.ts > status words"],
  },
  {
    name: "the cancel of one run is ignored",
    rows: ["S5.6a"],
    file: "packages/core/src/machines/agent/events.ts",
    find: 'return kind === "session.cancelled" || kind === "run.cancelled";',
    replace: 'return kind === "session.cancelled";',
    tests: [
      "packages/core/src/machines/agent/cancel.test.ts > a cancel of one run has the same effect as a cancel of its session",
    ],
  },
  {
    name: "a child is as deep as its parent",
    rows: ["S5.6a"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: "depth: request.depth + 1,",
    replace: "depth: request.depth,",
    tests: [
      "packages/core/src/machines/agent/delegate.test.ts > a delegation > is one request with all fields of the child",
    ],
  },
  {
    name: "the model call of a summary is not counted",
    rows: ["S5.6b"],
    file: projection,
    find: '"context.summarised": (before, { usage }) => addUsage(before, usage),',
    replace: '"context.summarised": () => ({}),',
    tests: ["packages/recorder/src/record/projection.test.ts > the cost of a run"],
  },
  {
    name: "the model call of an intent is not counted",
    rows: ["S5.6b"],
    file: projection,
    find: "(before, { usage }) => (usage ? addUsage(before, usage) : {}),",
    replace: "() => ({}),",
    tests: ["packages/recorder/src/record/projection.test.ts > the cost of a run"],
  },
  {
    name: "iterations have no limit",
    rows: ["S5.6c"],
    file: "packages/core/src/machines/agent/turn.ts",
    find: '  if (nextStep(context) >= turnsMax(context.pin)) return "max_iterations";\n',
    replace: "",
    tests: [`${caps} > iterations`],
  },
  {
    name: "the deadline never stops a run",
    rows: ["S5.6c"],
    file: "packages/core/src/machines/agent/setup/control.ts",
    find: "event.timer === deadline && context.clock.runningSince !== null,",
    replace: 'event.timer === "never" && context.clock.runningSince !== null,',
    tests: [`${caps} > the deadline`],
  },
  {
    name: "the prompt is the definition's alone",
    rows: ["S5.6d"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "const prompt = request.plan ? definition.prompt : registry.renderPrompt(definition, request, facts);",
    replace: "const prompt = facts ? definition.prompt : registry.renderPrompt(definition, request, facts);",
    tests: [
      rendered,
      "test/delegation/context.test.ts > with one host > general-purpose > has its parent's prompt and tools, and knows the task alone",
    ],
  },
  {
    name: "the prompt is rendered without the targets",
    rows: ["S5.6d"],
    file: "packages/runtime/src/host/claim/run-spec.ts",
    find: "targets: targets.map(({ id }) => id), agentList,",
    replace: "targets: targets.slice(0, 0).map(({ id }) => id), agentList,",
    tests: [rendered],
  },
  {
    name: "a settled run stays running in the record",
    rows: ["S5.8a"],
    file: projection,
    find: "completedAt: toIso(atMs),",
    replace: "completedAt: atMs < 0 ? toIso(atMs) : null,",
    tests: [bailedOut],
  },
  {
    name: "no message has a parent",
    rows: ["S5.8b", "C.4b"],
    file: "packages/recorder/src/record/run-table.ts",
    find: "const parentMessage = messageOf.get(parentRun) ?? null;",
    replace: "const parentMessage = parentRun === run.names ? 0 : null;",
    tests: [
      `${oneHost} > the record has the row of each run below the row of its parent, with its request and response`,
      `${rows} > are one message per run, below its parent's`,
    ],
  },
  {
    name: "the runs of a session have no order",
    rows: ["S5.8b"],
    file: "packages/recorder/src/record/run-table.ts",
    find: "(SELECT coalesce(max(seen), -1) + 1 FROM runs WHERE session_id = ?)",
    replace: "(SELECT coalesce(min(seen), 1) - 1 FROM runs WHERE session_id = ?)",
    tests: [`${store} > the reader > shows a session's runs in the order of their arrival`],
  },
  {
    name: "the turn that a user continues from the page is not recorded",
    rows: ["S5.8c"],
    file: "packages/recorder/src/record/writer.ts",
    find: "if (requested && beginsTurn(command)) beginTurn(command, requested, item.position);",
    replace: 'if (requested && command.kind === "session.requested") beginTurn(command, requested, item.position);',
    tests: [
      "packages/recorder/src/record/turns.test.ts > a session with a second turn > is pending again after its request, and has the name of its first request",
    ],
  },
  {
    name: "a session from the page is recorded as one of a program",
    rows: ["S5.8c"],
    file: "packages/recorder/src/record/writer.ts",
    find: "sessions.setOrigin(turn.request, turn.origin, turn.demo);",
    replace: 'sessions.setOrigin(turn.request, "api", turn.demo);',
    tests: [
      "test/browser/continuing.test.ts > a session that has settled > is recorded with all its turns, and with the page as its origin, if it was started and continued there",
    ],
  },
  {
    name: "no run is deeper than its parent, so no depth stops a tree",
    rows: ["S5.11b"],
    file: "packages/core/src/machines/agent/plan-batch.ts",
    find: "depth: request.depth + 1,",
    replace: "depth: request.depth + 0,",
    tests: [deepTree],
  },
];
