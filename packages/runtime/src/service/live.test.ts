/** The service with a real host behind it: what a person says reaches a run wherever it is, and holds. */
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalAnswer, type RunResponse } from "@troupe/core";
import { type ApprovalRules, openEntry } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { createToolHost, defineTool, openApprovalRules } from "@troupe/tools";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type ActorHost, createActorHost } from "../host/actor-host.ts";
import { ask, createTestDeps, rootRequest, type Script, type TestDeps } from "../host/host-deps.test-helper.ts";
import { recoverOpenRuns } from "../host/recovery/resume-open-runs.ts";
import { type Control, createControl } from "./control.ts";
import { createRows } from "./service.fixture.ts";

const first = "0198a000-0000-7000-8000-000000000001";
const second = "0198a000-0000-7000-8000-000000000002";
const yes = ApprovalAnswer.parse({ approved: true, by: "Ada" });
const no = ApprovalAnswer.parse({ approved: false, reason: "not on a Friday", by: "Ada" });

/** Asks for the dangerous thing, then says what came of it and what it was told meanwhile. */
const dangerous: Script = ({ origin, messages }) => {
  if (origin.step === 1) return { calls: [{ id: "a", name: "launch", args: { at: "noon" }, problem: null }] };
  return { text: messages.map(({ text }) => text).join("|") };
};

interface Stage {
  deps: TestDeps;
  control: Control;
  launched: ReturnType<typeof vi.fn>;
  host: ActorHost;
}

const hosts: ActorHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

function worldWith(script: Script, rules?: ApprovalRules, keep?: TestDeps) {
  const launched = vi.fn(async ({ at }: { at: string }) => ({ output: `launched at ${at}` }));
  const launch = defineTool({
    name: "launch",
    description: "Launches.",
    input: z.strictObject({ at: z.string() }),
    risk: "high",
    effect: "idempotent",
    run: launched,
  });
  const deps = createTestDeps({ agents: [{ id: "main" }], script, ...(keep ? { keep } : {}) });
  deps.tools = createToolHost({ tools: [launch], ...(rules ? { rules } : {}) });
  // A record that never catches up: all has to be found in the journal.
  const control = createControl({ deps, record: createRows(), ids: createCountingIds(), ...(rules ? { rules } : {}) });
  return { deps, control, launched };
}

async function stageWith(script: Script, rules?: ApprovalRules): Promise<Stage> {
  const made = worldWith(script, rules);
  return { ...made, host: await startHost(made.deps) };
}

async function startHost(deps: TestDeps): Promise<ActorHost> {
  const host = createActorHost({ deps });
  hosts.push(host);
  await host.start();
  return host;
}

function start(deps: TestDeps, run = first): { response: Promise<RunResponse>; session: string } {
  const request = rootRequest({ run });
  return { response: ask(deps, request), session: request.session };
}

async function entriesOf({ deps }: Pick<Stage, "deps">, run: string) {
  return (await deps.journal.readRun(rootRequest({ run }).session, run)).map(openEntry);
}

/** Resolves when the run has left memory. */
async function parked(stage: Stage, run = first): Promise<void> {
  await vi.waitUntil(async () => (await entriesOf(stage, run)).at(-1)?.kind === "run.parked");
  await vi.waitUntil(() => stage.host.activeRuns() === 0);
}

async function questionOf(stage: Pick<Stage, "deps">, run = first): Promise<string> {
  const asked = (await entriesOf(stage, run)).find(({ kind }) => kind === "approval.requested");
  if (asked?.kind !== "approval.requested") throw new Error("nobody asked");
  return asked.approval.id;
}

describe("a run that waits for a person", () => {
  it("goes on with a yes, and does what was allowed once", async () => {
    const stage = await stageWith(dangerous);
    const { response } = start(stage.deps);
    await parked(stage);
    expect(stage.launched).not.toHaveBeenCalled();
    expect(await stage.control.answer(await questionOf(stage), yes)).toMatchObject({
      outcome: "answered",
      approval: { tool: "launch", args: { at: "noon" }, state: "approved" },
    });
    expect(await response).toMatchObject({ status: "completed", details: expect.stringContaining("launched at noon") });
    expect(stage.launched).toHaveBeenCalledTimes(1);
  });

  it("goes on with a no, and does not do it", async () => {
    const stage = await stageWith(dangerous);
    const { response } = start(stage.deps);
    await parked(stage);
    await stage.control.answer(await questionOf(stage), no);
    expect(await response).toMatchObject({ details: expect.stringContaining("not on a Friday") });
    expect(stage.launched).not.toHaveBeenCalled();
  });

  it("is answered while nobody runs it, by whoever runs it next", async () => {
    const stage = await stageWith(dangerous);
    void start(stage.deps);
    await parked(stage);
    await stage.host.stop({ graceMs: 50 });
    const resting = worldWith(dangerous, undefined, stage.deps);
    await resting.control.answer(await questionOf(resting), yes);

    const next = worldWith(dangerous, undefined, stage.deps);
    const settled = Promise.withResolvers<void>();
    await next.deps.bus.subscribe(next.deps.subjects.settled(first), () => settled.resolve());
    await startHost(next.deps);
    expect(await recoverOpenRuns(next.deps.journal, next.deps.queue)).toEqual([first]);
    await settled.promise;
    expect(next.launched).toHaveBeenCalledTimes(1);
  });

  it("is cancelled where it is", async () => {
    const stage = await stageWith(dangerous);
    const { response } = start(stage.deps);
    await parked(stage);
    const id = await questionOf(stage);
    await stage.control.cancelRun(first, "enough");
    expect(await response).toMatchObject({ status: "cancelled" });
    expect(stage.launched).not.toHaveBeenCalled();
    // The record never had the question, and the journal has no open run that asks it.
    await expect(stage.control.answer(id, yes)).rejects.toMatchObject({ code: "UNKNOWN_APPROVAL" });
  });

  it("hears at its next step what it was told meanwhile", async () => {
    const stage = await stageWith(dangerous);
    const { response } = start(stage.deps);
    await parked(stage);
    await stage.control.steer(first, "mind the gap", "Ada");
    await stage.control.answer(await questionOf(stage), yes);
    expect((await response).details).toContain("mind the gap");
  });
});

it("an answer for good spares the next run the question, and its end brings it back", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-live-"));
  const rules = await openApprovalRules({ file: join(folder.path, "rules.json") });
  const stage = await stageWith(dangerous, rules);
  const asking = start(stage.deps);
  await parked(stage);
  const { rule } = await stage.control.answer(await questionOf(stage), { ...yes, scope: "rule" });
  await asking.response;

  expect(await start(stage.deps, second).response).toMatchObject({ status: "completed" });
  expect((await entriesOf(stage, second)).map(({ kind }) => kind)).not.toContain("approval.requested");
  expect(stage.launched).toHaveBeenCalledTimes(2);

  await stage.control.removeRule(rule?.id ?? "");
  const third = "0198a000-0000-7000-8000-000000000003";
  void start(stage.deps, third);
  await parked(stage, third);
  expect(stage.launched).toHaveBeenCalledTimes(2);
});

it("a run that is paused goes on when it is resumed, where it was", async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const stage = await stageWith(async ({ origin }) => {
    if (origin.step > 1) return { text: "done" };
    reached.resolve();
    await go.promise;
    return { calls: [{ id: "a", name: "nothing", args: {}, problem: null }] };
  });
  const { response } = start(stage.deps);
  await reached.promise;
  await stage.control.pause(first, "Ada");
  go.resolve();
  await parked(stage);
  expect(stage.deps.modelCalls).toEqual(["main/1/1"]);
  await stage.control.resume(first, "Ada");
  expect(await response).toMatchObject({ status: "completed" });
  expect(stage.deps.modelCalls).toEqual(["main/1/1", "main/1/2"]);
});
