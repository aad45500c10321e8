import type { LiveEvent } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { beforeEach, describe, expect, it } from "vitest";
import { settledMax } from "./approvals.ts";
import { approvalRow, runRow, sessionRow } from "./fixtures.test-helper.ts";
import { PageStore, sessionsMax } from "./store.ts";

/** A store whose frames the test draws itself. */
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
  it("are what the latest position says, in whatever order and however often changes arrive", () => {
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

  it("do not go back when a load arrives later than the changes that followed it", () => {
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

  it("of a tree are not shown before the whole tree is there", () => {
    store.openSession("s1");
    store.loadSessions(10, []);
    store.apply(change(11, { runs: [completed] }));
    expect(shown()).toEqual({});
    expect(store.state().open?.state).toBe("loading");
  });

  it("that queue move up when a sibling starts, whose row alone is sent", () => {
    const queued = { parentRun: "r1", status: "pending", exactStatus: "queued" } as const;
    opened();
    const [first, second] = [1, 2].map((order) => runRow({ ...queued, run: `q${order}`, order, queuePosition: order }));
    if (first && second) store.apply(change(11, { runs: [first, second] }));
    store.apply(change(12, { runs: [runRow({ run: "q1", order: 1, parentRun: "r1" })] }));
    draw();
    expect(store.state().open?.runs.get("q2")?.queuePosition).toBe(1);
  });

  it("of other sessions are not kept", () => {
    opened();
    store.apply(change(11, { runs: [runRow({ run: "x", session: "s2" })] }));
    expect(shown()).toEqual({ r1: "running" });
    store.openSession("s2");
    expect(shown()).toEqual({});
  });

  it("of a session that is no longer open do not come in with its late load", () => {
    opened();
    store.openSession("s2");
    store.loadDetail({ position: 12, session: sessionRow({ session: "s1" }), runs: [completed], approvals: [] });
    expect(store.state().open).toMatchObject({ id: "s2", state: "loading" });
    expect(shown()).toEqual({});
  });
});

describe("sessions", () => {
  it("stand newest first, and stay so when an old one changes", () => {
    const older = sessionRow({ session: "a", startedAt: "2026-01-01T00:00:00.000Z" });
    const newer = sessionRow({ session: "b", startedAt: "2026-01-02T00:00:00.000Z" });
    store.loadSessions(1, [older, newer]);
    store.apply(change(2, { sessions: [{ ...older, status: "failed" }] }));
    draw();
    expect(store.state().sessions?.map((row) => `${row.session} ${row.status}`)).toEqual(["b running", "a failed"]);
  });

  it("are kept up to a number, the oldest going first", () => {
    store.loadSessions(1, [sessionRow({ session: "old", startedAt: "2020-01-01T00:00:00.000Z" })]);
    for (let i = 0; i < sessionsMax; i++) store.apply(change(2 + i, { sessions: [sessionRow({ session: `s${i}` })] }));
    draw();
    expect(store.state().sessions).toHaveLength(sessionsMax);
    expect(store.state().sessions?.some((row) => row.session === "old")).toBe(false);
  });

  it("are unknown, not none, until they are loaded", () => {
    store.apply(change(1, { sessions: [sessionRow({ session: "a" })] }));
    draw();
    expect(store.state().sessions).toBeNull();
  });
});

describe("loading anew", () => {
  it("keeps the old rows on view until the new ones are there, and then shows only those", () => {
    opened();
    store.beginLoad();
    expect(shown()).toEqual({ r1: "running" });
    expect(store.loaded).toBe(false);
    // Another database: its positions are lower, and rows of the old one are gone.
    store.loadSessions(3, [sessionRow({ session: "s1" })]);
    store.apply(change(4, { runs: [runRow({ run: "r9" })] }));
    expect(shown()).toEqual({ r1: "running" });
    store.loadDetail({ position: 3, session: sessionRow({ session: "s1" }), runs: [completed], approvals: [] });
    expect(shown()).toEqual({ r1: "completed", r9: "running" });
  });

  it("keeps changes that arrive while it loads", () => {
    opened();
    store.beginLoad();
    store.apply(change(21, { sessions: [sessionRow({ session: "s1", status: "completed" })], runs: [completed] }));
    store.loadSessions(20, [sessionRow({ session: "s1" })]);
    store.loadDetail({ position: 20, session: sessionRow({ session: "s1" }), runs: [running], approvals: [] });
    expect(shown()).toEqual({ r1: "completed" });
    expect(store.state().sessions?.[0]?.status).toBe("completed");
  });
});

describe("the position to go on from", () => {
  it("follows list and stream, but not a detail, which is ahead of all other sessions", () => {
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

  it("are unknown, not none, until they are loaded", () => {
    store.apply(change(1, { approvals: [waiting] }));
    draw();
    expect(store.state().approvals).toBeNull();
  });

  it("of other sessions are kept as well, oldest first", () => {
    opened();
    store.loadApprovals(10, [approvalRow({ id: "b", session: "s2", requestedAt: "2026-01-01T00:00:09.000Z" })]);
    store.apply(change(11, { approvals: [waiting] }));
    expect(Object.keys(states())).toEqual(["a1", "b"]);
  });

  it("are withdrawn by an answer that was given elsewhere, and do not come back with a late load", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, [waiting]);
    expect(states()).toEqual({ a1: "waiting" });
    store.apply(change(12, { approvals: [answered] }));
    store.loadApprovals(11, [waiting]);
    store.loadDetail({ position: 11, session: sessionRow({ session: "s1" }), runs: [], approvals: [waiting] });
    expect(states()).toEqual({ a1: "approved" });
  });

  it("come with the detail of a session: those that were answered before the page was opened", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, []);
    store.loadDetail({ position: 10, session: sessionRow({ session: "s1" }), runs: [], approvals: [answered] });
    expect(states()).toEqual({ a1: "approved" });
  });

  it("have to be loaded, before the page may say that nothing waits", () => {
    store.loadSessions(10, []);
    expect([store.loaded, store.complete]).toEqual([true, false]);
    store.loadApprovals(10, []);
    expect(store.complete).toBe(true);
    store.beginLoad();
    expect(store.complete).toBe(false);
  });

  it("stay on view while all is loaded anew, and those of another database go", () => {
    store.loadSessions(10, []);
    store.loadApprovals(10, [waiting]);
    draw();
    store.beginLoad();
    expect(states()).toEqual({ a1: "waiting" });
    store.loadSessions(3, []);
    store.loadApprovals(3, [approvalRow({ id: "a2" })]);
    expect(states()).toEqual({ a2: "waiting" });
  });

  it("leave the position of the stream alone: the sessions of before it are still to come", () => {
    store.loadSessions(10, []);
    store.loadApprovals(20, [waiting]);
    expect(store.position).toBe(10);
  });

  it("that wait are all kept; of the others the oldest go first", () => {
    const at = (i: number): string => new Date(Date.parse("2026-01-01T00:00:00.000Z") + i * 1_000).toISOString();
    const settled = Array.from({ length: settledMax + 2 }, (_, i) =>
      approvalRow({ id: `old${i}`, state: "denied", requestedAt: at(i + 1) }),
    );
    store.loadSessions(1, []);
    store.loadApprovals(1, [approvalRow({ id: "first", requestedAt: at(0) }), ...settled]);
    const kept = Object.keys(states());
    expect(kept).toHaveLength(settledMax + 1);
    expect(kept.slice(0, 2)).toEqual(["first", "old2"]);
  });
});

describe("frames", () => {
  it("tell listeners once, however many changes one holds", () => {
    opened();
    let told = 0;
    store.subscribe(() => told++);
    for (let i = 0; i < 1_000; i++) store.apply(change(11 + i, { runs: [runRow({ run: "r1", iterations: i })] }));
    expect(told).toBe(0);
    draw();
    expect(told).toBe(1);
    expect(store.state().open?.runs.get("r1")?.iterations).toBe(999);
  });

  it("leave parts that did not change as the same objects", () => {
    opened();
    const { sessions, notes } = store.state();
    store.apply(change(11, { runs: [completed] }));
    draw();
    expect(store.state().sessions).toBe(sessions);
    expect(store.state().notes).toBe(notes);
  });

  it("bring nothing for a change that is already known", () => {
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

  it("say what a run does, until it settles", () => {
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

  it("of other sessions are not kept", () => {
    opened();
    store.applyLive({ ...event, session: "s2" });
    draw();
    expect(store.state().notes.size).toBe(0);
  });
});

describe("the connection", () => {
  it("remembers since when it is lost, and forgets it when it is back", () => {
    store.setConnection("lost");
    expect(store.state().lostAt).toBe(Date.parse("2026-01-01T00:01:00.000Z"));
    store.setConnection("live");
    expect(store.state().lostAt).toBeNull();
  });
});
