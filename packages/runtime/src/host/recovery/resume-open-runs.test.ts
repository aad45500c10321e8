/** A run whose host and task are gone is offered again. */
import type { HostView } from "@troupe/core/internal";
import { createMemoryJournal, createSimulatedClock } from "@troupe/core/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimRun } from "../claim/claim-run.ts";
import { createTestDeps, entriesOf, rootRequest, type TestDeps, writeEntries } from "../host-deps.test-helper.ts";
import { type OpenRunsResumer, resumeOpenRuns } from "./resume-open-runs.ts";

const leaseMs = 8_000;
const run = "0198a000-0000-7000-8000-000000000001";
const request = rootRequest({ run });

let deps: TestDeps;
let clock: ReturnType<typeof createSimulatedClock>;
let idleMs: number;
let reads: string[];
const resumers: OpenRunsResumer[] = [];

beforeEach(() => {
  clock = createSimulatedClock(1_000_000);
  idleMs = 2 * leaseMs;
  reads = [];
  const journal = createMemoryJournal();
  const watched = {
    ...journal,
    openRuns: async () => (await journal.openRuns()).map((open) => ({ ...open, idleMs })),
    readRun: async (session: string, of: string) => {
      reads.push(of);
      return await journal.readRun(session, of);
    },
  };
  deps = {
    ...createTestDeps({ agents: [{ id: "main" }], script: () => ({}), keep: { journal: watched } }),
    clock,
    leaseMs,
  };
});

afterEach(() => {
  for (const resumer of resumers.splice(0)) resumer.stop();
});

async function resume(): Promise<OpenRunsResumer> {
  const resumer = await resumeOpenRuns(deps);
  resumers.push(resumer);
  return resumer;
}

async function queued(): Promise<string[]> {
  return (await deps.queue.take({ agents: "all", localities: "all", max: 9 })).map((task) => task.run);
}

async function oneLease(): Promise<void> {
  clock.advance(leaseMs);
  await new Promise((resolve) => setImmediate(resolve));
}

const open = () => claimRun(deps, request, () => deps.agentSource.load(null));

describe("an open run", () => {
  test("is offered again after two leases without a write", async () => {
    await open();
    idleMs = 2 * leaseMs - 1;
    expect((await resume()).offered).toEqual([]);
    idleMs = 2 * leaseMs;
    await oneLease();
    expect(await queued()).toEqual([run]);
  });

  test("is offered if the journal does not know its idle time", async () => {
    await open();
    const { journal } = deps;
    const unknown = async () => (await journal.openRuns()).map(({ idleMs: _, ...open }) => open);
    deps.journal = { ...journal, openRuns: unknown };
    expect((await resume()).offered).toEqual([run]);
  });

  test("that never began is offered with its original request", async () => {
    const item = { v: 1 as const, at: 1, session: request.session, request, origin: "cli" as const, demo: false };
    await deps.journal.appendInbox({ ...item, kind: "session.requested" });
    expect((await resume()).offered).toEqual([run]);
  });

  test("that waits for a person is not woken, nor read again, until an answer arrives", async () => {
    await open();
    await writeEntries(deps, request, [{ kind: "run.parked", reason: "approval" }]);
    await resume();
    const readsAtFirst = reads.length;
    await oneLease();
    expect(await queued()).toEqual([]);
    expect(reads.length).toBe(readsAtFirst);
    const head = { v: 1 as const, at: 1, session: request.session, run, by: "a person" };
    await deps.journal.appendInbox({ ...head, kind: "run.steered", text: "hurry" });
    await oneLease();
    expect(await queued()).toEqual([run]);
  });

  test("that cannot be read does not delay the others", async () => {
    await open();
    const other = { ...request, run: "0198a000-0000-7000-8000-000000000002" };
    await claimRun(deps, other, () => deps.agentSource.load(null));
    const { journal } = deps;
    deps.journal = {
      ...journal,
      readRun: (session, of) => (of === run ? Promise.reject(new Error("damaged")) : journal.readRun(session, of)),
    };
    expect((await resume()).offered).toEqual([other.run]);
  });

  test("is searched again after a failure of the journal, and no more after a stop", async () => {
    await open();
    const { journal } = deps;
    let isReachable = false;
    deps.journal = {
      ...journal,
      openRuns: () => (isReachable ? journal.openRuns() : Promise.reject(new Error("gone"))),
    };
    const resumer = await resume();
    expect(resumer.offered).toEqual([]);
    isReachable = true;
    await oneLease();
    expect(await queued()).toEqual([run]);
    resumer.stop();
    await oneLease();
    expect(await queued()).toEqual([]);
  });
});

describe("a run whose files have no live host", () => {
  const atBox = rootRequest({ run, workspace: { id: "w1", path: "/nowhere", place: "box" } });
  const living: HostView[] = [];
  const there = { place: "box", alive: true } as HostView;
  const delegation = { noHost: "fail" as const, workspaceLostMs: 3 * leaseMs };

  beforeEach(() => {
    living.splice(0);
    const hosts = {
      list: () => living,
      serving: async () => living,
      served: () => new Map(),
      onChange: () => () => {},
    };
    deps = { ...deps, hosts, delegation };
  });

  const responseOf = async () => (await entriesOf(deps, atBox)).at(-1);
  const after = async (leases: number) => {
    for (let i = 0; i < leases; i += 1) await oneLease();
  };

  test("is given up after the time in the policy, with the location of its files", async () => {
    await claimRun(deps, atBox, () => deps.agentSource.load(null));
    await resume();
    await after(2);
    expect(await responseOf()).toMatchObject({ kind: "run.opened" });
    await after(1);
    expect(await responseOf()).toMatchObject({
      kind: "run.settled",
      response: {
        status: "failed",
        error: { type: "workspace_lost", message: "no host is left at the place box, where its files are" },
      },
    });
  });

  test("is given up if no host has started it, unless the policy lets such runs wait", async () => {
    const item = {
      v: 1 as const,
      at: 1,
      session: request.session,
      request: atBox,
      origin: "cli" as const,
      demo: false,
    };
    await deps.journal.appendInbox({ ...item, kind: "session.requested" });
    deps.delegation = { ...delegation, noHost: "queue" };
    await resume();
    await after(5);
    expect(await responseOf()).toBeUndefined();
    deps.delegation = delegation;
    await resume();
    await after(4);
    expect((await entriesOf(deps, atBox)).map(({ kind }) => kind)).toEqual(["run.opened", "run.settled"]);
  });

  test("continues if a host returns in time, or has written an entry", async () => {
    await claimRun(deps, atBox, () => deps.agentSource.load(null));
    await resume();
    await after(2);
    living.push(there);
    await after(1);
    living.splice(0);
    await after(2);
    await writeEntries(deps, atBox, [{ kind: "run.claimed", reason: "resumed" }]);
    await after(3);
    expect(await responseOf()).toMatchObject({ kind: "run.claimed" });
    await after(1);
    expect(await responseOf()).toMatchObject({ kind: "run.settled" });
  });

  test("is never given up for that if it may run anywhere", async () => {
    const anywhere = rootRequest({ run, workspace: { id: "w1", path: "/nowhere", place: "box", mode: "isolated" } });
    await claimRun(deps, anywhere, () => deps.agentSource.load(null));
    await resume();
    await after(5);
    expect(await responseOf()).toMatchObject({ kind: "run.opened" });
  });
});
