/** The entries that a host writes to claim a run, and the end of a poison run. */
import type { EntryBody, RunRequest } from "@troupe/core";
import { RunSpec } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import {
  createTestDeps,
  entriesOf,
  rootRequest,
  type TestDeps,
  toolCall,
  writeEntries,
} from "../host-deps.test-helper.ts";
import { claimRun } from "./claim-run.ts";
import { resolveRunSpec } from "./run-spec.ts";

const run = "0198a000-0000-7000-8000-000000000002";
const root = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({
  run,
  ancestors: [root],
  budget: { tokens: 50_000, costUsd: null, toolCalls: null, spawns: null },
});
const head = { v: 1 as const, at: 1, session: request.session };

function createDeps(): TestDeps {
  return createTestDeps({ agents: [{ id: "main" }], script: () => ({}) });
}

const claim = (deps: TestDeps, of: RunRequest = request) => claimRun(deps, of, () => deps.agentSource.load(null));

async function opened(deps: TestDeps, bodies: EntryBody[] = []): Promise<void> {
  const spec = await resolveRunSpec(deps, request, await deps.agentSource.load(null));
  await writeEntries(deps, request, [{ kind: "run.opened", request, pin: spec }, ...bodies]);
}

test("a new run is opened with its spec, and with every command about it", async () => {
  const deps = createDeps();
  await deps.journal.appendInbox({ ...head, kind: "run.paused", run: root, by: "a person" });
  await deps.journal.appendInbox({ ...head, kind: "run.steered", run: root, text: "not for it", by: "a person" });
  await deps.journal.appendInbox({ ...head, kind: "run.steered", run, text: "left", by: "a person" });
  expect(await claim(deps)).toMatchObject({ kind: "claimed", inbox: { seq: 3 } });
  const [first, ...rest] = await entriesOf(deps, request);
  expect(first).toMatchObject({ kind: "run.opened", request });
  expect(first?.kind === "run.opened" && RunSpec.parse(first.pin)).toMatchObject({ budget: request.budget });
  expect(rest).toMatchObject([
    { kind: "inbox.received", seq: 1 },
    { kind: "inbox.received", seq: 3 },
  ]);
});

test("a run of an unknown agent is rejected, without usage", async () => {
  const deps = createDeps();
  const unknown = { ...request, agent: "ghost" };
  expect(await claim(deps, unknown)).toMatchObject({
    kind: "settled",
    response: {
      status: "rejected",
      error: { type: "unknown_agent" },
      metrics: { iterations: 0, subtree: { iterations: 0 } },
    },
  });
});

describe("a run whose claims make no progress", () => {
  const claimed: EntryBody = { kind: "run.claimed", reason: "resumed" };
  const steered = (seq: number): EntryBody => ({
    kind: "inbox.received",
    seq,
    item: { ...head, kind: "run.steered", run, text: "hurry", by: "a person" },
  });
  const usage = { inputTokens: 100, outputTokens: 20, cachedTokens: 0, costUsd: 0 };
  const replied = {
    kind: "model.replied",
    step: 1,
    reply: { text: "", calls: [toolCall("echo")], usage, stopReason: "tool_calls", model: "test/model" },
    durationMs: 1,
  } satisfies EntryBody;

  test("is settled as crashed, with all its usage", async () => {
    const deps = createDeps();
    await opened(deps, [replied, claimed, claimed, claimed]);
    const result = await claim(deps);
    expect(result).toMatchObject({
      kind: "settled",
      response: {
        status: "failed",
        error: { type: "crashed" },
        metrics: { iterations: 1, toolCalls: 1, totalTokens: 120, charged: { tokens: 120, toolCalls: 1 } },
      },
    });
  });

  test.for<{ what: string; bodies: EntryBody[] }>([
    { what: "its opening and one claim", bodies: [claimed] },
    { what: "two claims after an outcome", bodies: [replied, claimed, claimed] },
    { what: "claims with an outcome between them", bodies: [claimed, claimed, replied, claimed] },
    {
      what: "claims that ended with a deliberate park",
      bodies: [claimed, claimed, { kind: "run.parked", reason: "approval" }, claimed],
    },
    { what: "one claim and many commands", bodies: [claimed, steered(1), steered(2), steered(3)] },
  ])("is claimed again after $what", async ({ bodies }) => {
    const deps = createDeps();
    await opened(deps, bodies);
    expect(await claim(deps)).toMatchObject({ kind: "claimed" });
  });

  test("is settled as crashed if its opening was the first of three claims", async () => {
    const deps = createDeps();
    await opened(deps, [claimed, claimed]);
    expect(await claim(deps)).toMatchObject({ kind: "settled", response: { error: { type: "crashed" } } });
  });

  test("is claimed again if it only waits: waiting crashes no host", async () => {
    const delegating: EntryBody = {
      ...replied,
      reply: { ...replied.reply, calls: [toolCall("delegate", { agent: "helper", task: "x" })] },
    };
    const deps = createTestDeps({
      agents: [{ id: "main", subagents: { allow: ["helper"] } }, { id: "helper" }],
      script: () => ({}),
    });
    const planned: EntryBody = {
      kind: "calls.planned",
      step: 1,
      refused: [],
      children: [
        {
          call: 0,
          item: 0,
          run: root,
          agent: "helper",
          task: "x",
          name: "a",
          after: [],
          contextMode: "task_only",
          maxAttempts: 1,
        },
      ],
    };
    await opened(deps, [delegating, planned, claimed, claimed, claimed]);
    expect(await claim(deps)).toMatchObject({ kind: "claimed" });
  });

  test("is not claimed again for commands in between", async () => {
    const deps = createDeps();
    await opened(deps, [claimed, steered(1), claimed, steered(2), claimed]);
    expect(await claim(deps)).toMatchObject({ kind: "settled" });
  });
});
