/** A turn can be added when the session has settled. It is added once, even if it is submitted several times. */
import { tmpdir } from "node:os";
import { RunRequest, type SessionDetail, SubmitSession } from "@troupe/core";
import { decode } from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { parsePolicy } from "@troupe/tools/internal";
import { beforeEach, describe, expect, it } from "vitest";
import { createContinue } from "./continue-session.ts";
import { createControl } from "./control.ts";
import {
  createIdleDeps,
  createRows,
  definition,
  type IdleDeps,
  openRun,
  otherSession,
  recordedSession,
  requestOf,
  requestSession,
  root,
  session,
  settled,
  stranger,
} from "./service.fixture.ts";

const folder = tmpdir();
const run = "0198a000-0000-7000-8000-0000000000c1";
const before = requestOf({
  agent: "coder",
  userId: "ada",
  workspace: { id: "w1", path: folder },
  layers: [
    { from: "policy", kind: "policy", denyTools: ["write"] },
    { from: "session", kind: "session", denyTools: ["shell"] },
  ],
});

let deps: IdleDeps;
let goOn: (command?: Partial<SubmitSession>) => Promise<unknown>;
/** A record that lists sessions which the journal does not have. */
let recorded: Map<string, SessionDetail>;

beforeEach(async () => {
  deps = await createIdleDeps([definition({ id: "main" }), definition({ id: "coder" })]);
  recorded = new Map();
  const next = createContinue({
    deps,
    record: { session: async (id) => recorded.get(id) ?? null },
    ids: createCountingIds(),
    workspaces: "/nonexistent",
    policy: parsePolicy("", "policy.yaml"),
    model: { id: "other/model", demo: false },
    resolveScenario: async (name) => `scripted/${name}`,
  });
  goOn = (command = {}) =>
    next(command.continues ?? session, SubmitSession.parse({ task: "more", continues: session, run, ...command }));
});

/** A session whose one turn has settled. */
async function settledSession(): Promise<void> {
  await requestSession(deps, before);
  await openRun(deps, before, [settled(root)]);
}

async function offeredRequest(): Promise<RunRequest> {
  const [task] = await deps.queue.take({ agents: "all", localities: "all", max: 1 });
  return decode(RunRequest, task?.bytes ?? new Uint8Array(), "task");
}

async function turns(): Promise<string[]> {
  return (await deps.journal.readInbox(session)).map(({ item }) => item.kind);
}

describe("another turn", () => {
  it("has the agent, folder, model and restrictions of the turn before, under the current policy", async () => {
    await settledSession();
    expect(await goOn()).toEqual({ session, run, workspace: folder, demo: false });
    const request = await offeredRequest();
    expect(request).toMatchObject({
      session,
      run,
      task: "more",
      agent: "coder",
      model: "test/model",
      continues: root,
      userId: "ada",
      workspace: before.workspace,
    });
    expect(request.layers.map(({ from, denyTools }) => [from, denyTools])).toEqual([
      ["policy", []],
      ["session", ["shell"]],
    ]);
  });

  it("can name another agent and model, with limits and restrictions of its own", async () => {
    await settledSession();
    const grant = { denyTools: ["read"] };
    await goOn({ agent: "main", scenario: "demo", grant, budget: { tokens: 9_000 }, timeoutMs: 5 });
    const request = await offeredRequest();
    expect(request).toMatchObject({
      agent: "main",
      model: "scripted/demo",
      budget: { tokens: 9_000 },
      limits: { maxDurationMs: 5 },
    });
    expect(request.layers.map(({ denyTools }) => denyTools)).toEqual([[], ["shell"], ["read"]]);
  });

  it("is added once, even if it is submitted several times, also after it has settled", async () => {
    await settledSession();
    const [once, twice] = await Promise.all([goOn(), goOn({ task: "something else" })]);
    expect(twice).toEqual(once);
    expect(await deps.offered()).toEqual([run]);
    await openRun(deps, requestOf({ run, continues: root }), [settled(run)]);
    expect(await goOn()).toEqual(once);
    expect(await turns()).toEqual(["session.requested", "session.continued"]);
  });

  it("is refused if another turn was submitted at the same time", async () => {
    await settledSession();
    const asked = await Promise.allSettled([goOn(), goOn({ run: undefined })]);
    expect(asked.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(asked[1]).toMatchObject({ reason: { code: "CONFLICT" } });
  });
});

describe("is refused, and nothing is stored,", () => {
  it("while the session runs, with a fix", async () => {
    await requestSession(deps, before);
    const fix = expect.stringContaining(`troupe steer ${root}`);
    await expect(goOn()).rejects.toMatchObject({ code: "CONFLICT", fix });
    await openRun(deps, before);
    await expect(goOn()).rejects.toMatchObject({ code: "CONFLICT", fix });
    expect(await turns()).toEqual(["session.requested"]);
  });

  it("if the session is unknown", async () => {
    await expect(goOn({ continues: otherSession })).rejects.toMatchObject({ code: "UNKNOWN_SESSION" });
  });

  it("if the session was purged from the journal, and says so", async () => {
    recorded.set(otherSession, recordedSession(otherSession));
    await expect(goOn({ continues: otherSession })).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("purged"),
      fix: expect.stringContaining(`troupe sessions show ${otherSession}`),
    });
  });

  it.each<[string, Partial<SubmitSession>, object]>([
    ["another folder", { workspace: "/elsewhere" }, { code: "USAGE", message: expect.stringContaining("/elsewhere") }],
    ["another session's id", { session: otherSession }, { code: "USAGE" }],
    ["the id of an existing run", { run: stranger }, { code: "CONFLICT", message: expect.stringContaining(stranger) }],
    ["an unknown agent", { agent: "unknown" }, { code: "UNKNOWN_AGENT" }],
  ])("with %s", async (_, command, error) => {
    await settledSession();
    await openRun(deps, requestOf({ run: stranger }));
    await expect(goOn(command)).rejects.toMatchObject(error);
    expect(await turns()).toEqual(["session.requested"]);
  });
});

describe("a command about the session", () => {
  it("of an earlier turn does not count in this one", async () => {
    const control = createControl({ deps, record: createRows(), ids: createCountingIds() });
    await settledSession();
    await deps.journal.appendInbox({ v: 1, kind: "session.cancelled", at: 1, session, reason: "first" });
    expect(await control.cancel(session, "it has ended")).toMatchObject({ outcome: "settled" });
    await goOn();
    expect(await control.cancel(session, "again")).toMatchObject({ outcome: "requested", status: "pending" });
    expect(await control.cancel(session, "twice")).toMatchObject({ outcome: "requested" });
    expect((await turns()).slice(1)).toEqual(["session.cancelled", "session.continued", "session.cancelled"]);
    await openRun(deps, requestOf({ run, continues: root }), [settled(run, "cancelled")]);
    expect(await control.cancel(session, "late")).toMatchObject({ outcome: "settled", status: "cancelled" });
  });
});
