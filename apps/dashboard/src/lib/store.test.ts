import type { LiveEvent } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { beforeEach, describe, expect, it } from "vitest";
import { settledMax } from "./approvals.ts";
import { approvalRow, runRow, sessionRow } from "./fixtures.test-helper.ts";
import { PageStore, sessionsMax } from "./store.ts";

/** A store with frames that the test draws. */
let frames: (() => void)[];
let store: PageStore;

beforeEach(() => {
  frames = [];
  store = new PageStore(
    (flush) => frames.push(flush),
    () => Date.parse("2026-01-01T00:01:00.000Z"),
  );
});

function draw(): void {
  for (const flush of frames.splice(0)) flush();
}

function shown(): Record<string, string> {
  draw();
  return Object.fromEntries(Array.from(store.state().open?.runs.values() ?? [], (run) => [run.run, run.status]));
}

function change(position: number, part: Partial<RecordChange>): RecordChange {
  return { position, sessions: [], runs: [], approvals: [], ...part };
}

const running = runRow({ run: "r1" });
const completed = runRow({ run: "r1", status: "completed" });

/** The list at position 10, and session s1 open with r1 running. */
function opened(): void {
  store.openSession("s1");
  store.loadSessions(10, [sessionRow({ session: "s1" })]);
  store.loadDetail({ position: 10, session: sessionRow({ session: "s1" }), runs: [running], approvals: [] });
  draw();
}

describe("rows", () => {
  it("have the latest position, with any order and number of changes", () => {
    const changes = [
      change(11, { runs: [runRow({ run: "r2", status: "pending" })] }),
      change(12, { runs: [completed] }),
      change(13, { runs: [runRow({ run: "r2", status: "failed" })] }),
    ];
    const orders = [
      [0, 1, 2],
      [2, 1, 0],
      [1, 1, 0, 2, 0],
      [2, 0, 1, 2, 1, 0],
    ];
    for (const order of orders) {
      store = new PageStore(
        (flush) => frames.push(flush),
        () => 0,
      );
      opened();
      for (const i of order) store.apply(changes[i] as RecordChange);
      expect(shown()).toEqual({ r1: "completed", r2: "failed" });
    }
  });

  it("do not go back when a load arrives after newer changes", () => {
    store.openSession("s1");
    store.loadSessions(10, []);
    store.apply(change(11, { runs: [completed] }));
    store.loadDetail({
      position: 10,
      session: sessionRow({ session: "s1" }),
      runs: [running, runRow({ run: "r0" })],
      approvals: [],
    });
    expect(shown()).toEqual({ r0: "running", r1: "completed" });
  });

  it("of a tree appear only with the whole tree", () => {
    store.openSession("s1");
    store.loadSessions(10, []);
    store.apply(change(11, { runs: [completed] }));
    expect(shown()).toEqual({});
    expect(store.state().open?.state).toBe("loading");
  });

  it("move up in the queue when the row of a started sibling arrives", () => {
    const queued = { parentRun: "r1", status: "pending", exactStatus: "queued" } as const;
    opened();
    const [first, second] = [1, 2].map((order) => runRow({ ...queued, run: `q${order}`, order, queuePosition: order }));
    if (first && second) store.apply(change(11, { runs: [first, second] }));
    store.apply(change(12, { runs: [runRow({ run: "q1", order: 1, parentRun: "r1" })] }));
    draw();
    expect(store.state().open?.runs.get("q2")?.queuePosition).toBe(1);
  });

  it("of other sessions are ignored", () => {
    opened();
    store.apply(change(11, { runs: [runRow({ run: "x", session: "s2" })] }));
    expect(shown()).toEqual({ r1: "running" });
    store.openSession("s2");
    expect(shown()).toEqual({});
  });

  it("of a closed session are ignored when its load arrives late", () => {
    opened();
    store.openSession("s2");
    store.loadDetail({ position: 12, session: sessionRow({ session: "s1" }), runs: [completed], approvals: [] });
    expect(store.state().open).toMatchObject({ id: "s2", state: "loading" });
    expect(shown()).toEqual({});
  });
});

describe("sessions", () => {
  it("have the newest first, also after a change of an old one", () => {
    const older = sessionRow({ session: "a", startedAt: "2026-01-01T00:00:00.000Z" });
    const newer = sessionRow({ session: "b", startedAt: "2026-01-02T00:00:00.000Z" });
    store.loadSessions(1, [older, newer]);
    store.apply(change(2, { sessions: [{ ...older, status: "failed" }] }));
    draw();
    expect(store.state().sessions?.map((row) => `${row.session} ${row.status}`)).toEqual(["b running", "a failed"]);
  });

  it("have a limit, which evicts the oldest", () => {
    store.loadSessions(1, [sessionRow({ session: "old", startedAt: "2020-01-01T00:00:00.000Z" })]);
    for (let i = 0; i < sessionsMax; i++) store.apply(change(2 + i, { sessions: [sessionRow({ session: `s${i}` })] }));
    draw();
    expect(store.state().sessions).toHaveLength(sessionsMax);
    expect(store.state().sessions?.some((row) => row.session === "old")).toBe(false);
  });

  it("are null until they are loaded", () => {
    store.apply(change(1, { sessions: [sessionRow({ session: "a" })] }));
    draw();
    expect(store.state().sessions).toBeNull();
  });
});

describe("a reload", () => {
  it("shows the old rows until the new ones arrive, and then only the new ones", () => {
    opened();
    store.beginLoad();
    expect(shown()).toEqual({ r1: "running" });
    expect(store.loaded).toBe(false);
    // Another database has lower positions and other rows.
    store.loadSessions(3, [sessionRow({ session: "s1" })]);
    store.apply(change(4, { runs: [runRow({ run: "r9" })] }));
    expect(shown()).toEqual({ r1: "running" });
    store.loadDetail({ position: 3, session: sessionRow({ session: "s1" }), runs: [completed], approvals: [] });
    expect(shown()).toEqual({ r1: "completed", r9: "running" });
  });

  it("keeps changes that arrive during the load", () => {
    opened();
    store.beginLoad();
    store.apply(change(21, { sessions: [sessionRow({ session: "s1", status: "completed" })], runs: [completed] }));
    store.loadSessions(20, [sessionRow({ session: "s1" })]);
    store.loadDetail({ position: 20, session: sessionRow({ session: "s1" }), runs: [running], approvals: [] });
    expect(shown()).toEqual({ r1: "completed" });
    expect(store.state().sessions?.[0]?.status).toBe("completed");
  });
});

describe("the position of the stream", () => {
  it("follows list and stream, but not a detail, which is ahead", () => {
    opened();
    store.loadDetail({ position: 50, session: sessionRow({ session: "s1" }), runs: [], approvals: [] });
    expect(store.position).toBe(10);
    store.apply(change(12, {}));
    store.apply(change(11, {}));
    expect(store.position).toBe(12);
  });
});

describe("approvals", () => {
  const waiting = approvalRow({ id: "a1" });
  const answered = approvalRow({ id: "a1", state: "approved", by: "ada" });
  const states = (): Record<string, string> => {
    draw();
    return Object.fromEntries((store.state().approvals ?? []).map(({ id, state }) => [id, state]));
  };

  it("are null until they are loaded", () => {
    store.apply(change(1, { approvals: [waiting] }));
    draw();
    expect(store.state().approvals).toBeNull();
  });

  it("include those of other sessions, oldest first", () => {
    opened();
    store.loadApprovals(10, [approvalRow({ id: "b", session: "s2", requestedAt: "2026-01-01T00:00:09.000Z" })]);
    store.apply(change(11, { approvals: [waiting] }));
    expect(Object.keys(states())).toEqual(["a1", "b"]);
  });

  it("settle with an answer from another client, and a late load does not restore them", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, [waiting]);
    expect(states()).toEqual({ a1: "waiting" });
    store.apply(change(12, { approvals: [answered] }));
    store.loadApprovals(11, [waiting]);
    store.loadDetail({ position: 11, session: sessionRow({ session: "s1" }), runs: [], approvals: [waiting] });
    expect(states()).toEqual({ a1: "approved" });
  });

  it("of a session include earlier answered ones, with its detail", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, []);
    store.loadDetail({ position: 10, session: sessionRow({ session: "s1" }), runs: [], approvals: [answered] });
    expect(states()).toEqual({ a1: "approved" });
  });

  it("make the store complete when they are loaded", () => {
    store.loadSessions(10, []);
    expect([store.loaded, store.complete]).toEqual([true, false]);
    store.loadApprovals(10, []);
    expect(store.complete).toBe(true);
    store.beginLoad();
    expect(store.complete).toBe(false);
  });

  it("stay visible during a reload, and those of another database disappear", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, [waiting]);
    draw();
    store.beginLoad();
    expect(states()).toEqual({ a1: "waiting" });
    store.loadSessions(3, []);
    store.loadApprovals(3, [approvalRow({ id: "a2" })]);
    expect(states()).toEqual({ a2: "waiting" });
  });

  it("do not move the position of the stream, because earlier sessions are still to come", () => {
    store.loadSessions(10, []);
    store.loadApprovals(20, [waiting]);
    expect(store.position).toBe(10);
  });

  it("keep every waiting one; a limit evicts the oldest others", () => {
    const at = (i: number): string => new Date(Date.parse("2026-01-01T00:00:00.000Z") + i * 1_000).toISOString();
    const settled = Array.from({ length: settledMax + 2 }, (_, i) =>
      approvalRow({ id: `old${i}`, state: "denied", requestedAt: at(i + 1) }),
    );
    store.loadSessions(1, []);
    store.loadApprovals(1, [approvalRow({ id: "first", requestedAt: at(0) }), ...settled]);
    const ids = Object.keys(states());
    expect(ids).toHaveLength(settledMax + 1);
    expect(ids.slice(0, 2)).toEqual(["first", "old2"]);
  });
});

describe("frames", () => {
  it("notify listeners once for several changes", () => {
    opened();
    let told = 0;
    store.subscribe(() => told++);
    for (let i = 0; i < 1_000; i++) store.apply(change(11 + i, { runs: [runRow({ run: "r1", iterations: i })] }));
    expect(told).toBe(0);
    draw();
    expect(told).toBe(1);
    expect(store.state().open?.runs.get("r1")?.iterations).toBe(999);
  });

  it("keep the objects of unchanged parts", () => {
    opened();
    const { sessions, notes } = store.state();
    store.apply(change(11, { runs: [completed] }));
    draw();
    expect(store.state().sessions).toBe(sessions);
    expect(store.state().notes).toBe(notes);
  });

  it("do not come for a known change", () => {
    opened();
    store.apply(change(10, { runs: [completed] }));
    expect(frames).toHaveLength(0);
  });
});

describe("live notes", () => {
  const event: LiveEvent = {
    v: 1,
    kind: "tool.started",
    session: "s1",
    run: "r1",
    agent: "coder",
    tool: "write",
    detail: "a.md",
  };

  it("show the activity of a run until it settles", () => {
    opened();
    store.applyLive(event);
    draw();
    expect(store.state().notes.get("r1")?.activity).toBe("write a.md");
    store.apply(change(11, { runs: [completed] }));
    draw();
    expect(store.state().notes.size).toBe(0);
    store.applyLive(event);
    draw();
    expect(store.state().notes.size).toBe(0);
  });

  it("of other sessions are ignored", () => {
    opened();
    store.applyLive({ ...event, session: "s2" });
    draw();
    expect(store.state().notes.size).toBe(0);
  });
});

describe("the connection", () => {
  it("has a time of loss until it is back", () => {
    store.setConnection("lost");
    expect(store.state().lostAt).toBe(Date.parse("2026-01-01T00:01:00.000Z"));
    store.setConnection("live");
    expect(store.state().lostAt).toBeNull();
  });
});
