/** The service with a real host: commands reach a run in memory, parked or queued, and they hold. */
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

/** Calls the dangerous tool, then reports its outcome and the messages that arrived meanwhile. */
const dangerous: Script = ({ origin, messages }) => {
  if (origin.step === 1) return { calls: [{ id: "a", name: "launch", args: { at: "noon" }, problem: null }] };
  return { text: messages.map(({ text }) => text).join("|") };
};

interface Fixture {
  deps: TestDeps;
  control: Control;
  launched: ReturnType<typeof vi.fn>;
  host: ActorHost;
}

const hosts: ActorHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop({ graceMs: 50 })));
});

function depsWith(script: Script, rules?: ApprovalRules, keep?: TestDeps) {
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
  // The record stays empty, so the service must find everything in the journal.
  const control = createControl({ deps, record: createRows(), ids: createCountingIds(), ...(rules ? { rules } : {}) });
  return { deps, control, launched };
}

async function createFixture(script: Script, rules?: ApprovalRules): Promise<Fixture> {
  const made = depsWith(script, rules);
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

async function entriesOf({ deps }: Pick<Fixture, "deps">, run: string) {
  return (await deps.journal.readRun(rootRequest({ run }).session, run)).map(openEntry);
}

/** Resolves when the run is parked. */
async function parked(fixture: Fixture, run = first): Promise<void> {
  await vi.waitUntil(async () => (await entriesOf(fixture, run)).at(-1)?.kind === "run.parked");
  await vi.waitUntil(() => fixture.host.activeRuns() === 0);
}

async function questionOf(fixture: Pick<Fixture, "deps">, run = first): Promise<string> {
  const request = (await entriesOf(fixture, run)).find(({ kind }) => kind === "approval.requested");
  if (request?.kind !== "approval.requested") throw new Error("there is no approval request");
  return request.approval.id;
}

describe("a run that waits for a person", () => {
  it("continues after an allowance and runs the call once", async () => {
    const fixture = await createFixture(dangerous);
    const { response } = start(fixture.deps);
    await parked(fixture);
    expect(fixture.launched).not.toHaveBeenCalled();
    expect(await fixture.control.answer(await questionOf(fixture), yes)).toMatchObject({
      outcome: "answered",
      approval: { tool: "launch", args: { at: "noon" }, state: "approved" },
    });
    expect(await response).toMatchObject({ status: "completed", details: expect.stringContaining("launched at noon") });
    expect(fixture.launched).toHaveBeenCalledTimes(1);
  });

  it("continues after a denial and does not run the call", async () => {
    const fixture = await createFixture(dangerous);
    const { response } = start(fixture.deps);
    await parked(fixture);
    await fixture.control.answer(await questionOf(fixture), no);
    expect(await response).toMatchObject({ details: expect.stringContaining("not on a Friday") });
    expect(fixture.launched).not.toHaveBeenCalled();
  });

  it("takes the answer on the next host if no host runs it", async () => {
    const fixture = await createFixture(dangerous);
    void start(fixture.deps);
    await parked(fixture);
    await fixture.host.stop({ graceMs: 50 });
    const resting = depsWith(dangerous, undefined, fixture.deps);
    await resting.control.answer(await questionOf(resting), yes);

    const next = depsWith(dangerous, undefined, fixture.deps);
    const settled = Promise.withResolvers<void>();
    await next.deps.bus.subscribe(next.deps.subjects.settled(first), () => settled.resolve());
    await startHost(next.deps);
    expect(await recoverOpenRuns(next.deps.journal, next.deps.queue)).toEqual([first]);
    await settled.promise;
    expect(next.launched).toHaveBeenCalledTimes(1);
  });

  it("is cancelled while it is parked", async () => {
    const fixture = await createFixture(dangerous);
    const { response } = start(fixture.deps);
    await parked(fixture);
    const id = await questionOf(fixture);
    await fixture.control.cancelRun(first, "enough");
    expect(await response).toMatchObject({ status: "cancelled" });
    expect(fixture.launched).not.toHaveBeenCalled();
    // The record has no such question, and no open run in the journal asks it.
    await expect(fixture.control.answer(id, yes)).rejects.toMatchObject({ code: "UNKNOWN_APPROVAL" });
  });

  it("gets messages at its next step", async () => {
    const fixture = await createFixture(dangerous);
    const { response } = start(fixture.deps);
    await parked(fixture);
    await fixture.control.steer(first, "mind the gap", "Ada");
    await fixture.control.answer(await questionOf(fixture), yes);
    expect((await response).details).toContain("mind the gap");
  });
});

it("a rule answers the next run's question, and its removal brings the question back", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-live-"));
  const rules = await openApprovalRules({ file: join(folder.path, "rules.json") });
  const fixture = await createFixture(dangerous, rules);
  const asking = start(fixture.deps);
  await parked(fixture);
  const { rule } = await fixture.control.answer(await questionOf(fixture), { ...yes, scope: "rule" });
  await asking.response;

  expect(await start(fixture.deps, second).response).toMatchObject({ status: "completed" });
  expect((await entriesOf(fixture, second)).map(({ kind }) => kind)).not.toContain("approval.requested");
  expect(fixture.launched).toHaveBeenCalledTimes(2);

  await fixture.control.removeRule(rule?.id ?? "");
  const third = "0198a000-0000-7000-8000-000000000003";
  void start(fixture.deps, third);
  await parked(fixture, third);
  expect(fixture.launched).toHaveBeenCalledTimes(2);
});

it("a paused run continues from the same point when it is resumed", async () => {
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const fixture = await createFixture(async ({ origin }) => {
    if (origin.step > 1) return { text: "done" };
    reached.resolve();
    await go.promise;
    return { calls: [{ id: "a", name: "nothing", args: {}, problem: null }] };
  });
  const { response } = start(fixture.deps);
  await reached.promise;
  await fixture.control.pause(first, "Ada");
  go.resolve();
  await parked(fixture);
  expect(fixture.deps.modelCalls).toEqual(["main/1/1"]);
  await fixture.control.resume(first, "Ada");
  expect(await response).toMatchObject({ status: "completed" });
  expect(fixture.deps.modelCalls).toEqual(["main/1/1", "main/1/2"]);
});
