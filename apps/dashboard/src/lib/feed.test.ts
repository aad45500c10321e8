import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FeedSink, openFeed } from "./feed.ts";

/** A fake of the browser class. The test sends the events of the server. */
class FakeSource extends EventTarget {
  static opened: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  closed = false;
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSource.opened.push(this);
  }

  close(): void {
    this.closed = true;
  }

  send(type: string, value: unknown): void {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(value) }));
  }
}

/** A fake channel. The test is the other end. */
class FakeChannel {
  static last: FakeChannel;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly posted: unknown[] = [];

  constructor() {
    FakeChannel.last = this;
  }

  postMessage(message: unknown): void {
    this.posted.push(message);
  }
}

let received: string[];
let position: number;
let sink: FeedSink;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("navigator", {});
  FakeSource.opened = [];
  received = [];
  position = 7;
  sink = {
    position: () => position,
    change: (change) => {
      position = change.position;
      received.push(`change ${change.position}`);
    },
    live: (event) => received.push(`live ${event.kind}`),
    resync: () => received.push("resync"),
    connection: (state) => received.push(state),
  };
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function latest(): FakeSource {
  const source = FakeSource.opened.at(-1);
  if (!source) throw new Error("no stream was opened");
  return source;
}

const change = { position: 9, sessions: [], runs: [] };

describe("a stream", () => {
  it("delivers the events of the daemon", () => {
    openFeed(sink);
    latest().onopen?.();
    latest().send("change", change);
    latest().send("live", { kind: "text.delta" });
    latest().send("resync", {});
    expect(received).toEqual(["up", "change 9", "live text.delta", "resync"]);
  });

  it("reopens from the current position, with a growing delay until it works", () => {
    openFeed(sink);
    expect(latest().url).toBe("/api/v1/events?after=7");
    latest().send("change", change);
    latest().onerror?.();
    expect(latest().closed).toBe(true);
    vi.advanceTimersByTime(500);
    expect(latest().url).toBe("/api/v1/events?after=9");
    latest().onerror?.();
    vi.advanceTimersByTime(999);
    expect(FakeSource.opened).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(FakeSource.opened).toHaveLength(3);
    latest().onopen?.();
    latest().onerror?.();
    vi.advanceTimersByTime(500);
    expect(FakeSource.opened).toHaveLength(4);
    expect(received).toEqual(["change 9", "down", "down", "up", "down"]);
  });

  it("reopens at once on a retry, and only once", () => {
    const feed = openFeed(sink);
    latest().onerror?.();
    feed.retry();
    vi.advanceTimersByTime(60_000);
    expect(FakeSource.opened).toHaveLength(2);
  });
});

describe("several tabs", () => {
  let takeLead: (() => void) | null;

  beforeEach(() => {
    takeLead = null;
    vi.stubGlobal("BroadcastChannel", FakeChannel);
    vi.stubGlobal("navigator", {
      locks: {
        request: (_name: string, lead: () => Promise<never>) => {
          takeLead = () => void lead();
          return new Promise(() => {});
        },
      },
    });
  });

  const say = (message: unknown): void => FakeChannel.last.onmessage?.({ data: message });

  it("without the lock open no stream and receive the events of the leader", () => {
    openFeed(sink);
    expect(FakeChannel.last.posted).toEqual([{ kind: "hello" }]);
    say({ kind: "connection", state: "up" });
    say({ kind: "change", change });
    expect(received).toEqual(["up", "change 9"]);
    expect(FakeSource.opened).toHaveLength(0);
  });

  it("reload if they are behind a new leader", () => {
    openFeed(sink);
    say({ kind: "leading", after: 7 });
    expect(received).toEqual([]);
    say({ kind: "leading", after: 8 });
    expect(received).toEqual(["resync"]);
  });

  it("take over from their position, forward every event and answer new tabs", () => {
    openFeed(sink);
    say({ kind: "change", change });
    takeLead?.();
    expect(latest().url).toBe("/api/v1/events?after=9");
    latest().onopen?.();
    latest().send("change", { ...change, position: 10 });
    say({ kind: "hello" });
    expect(FakeChannel.last.posted).toEqual([
      { kind: "hello" },
      { kind: "leading", after: 9 },
      { kind: "connection", state: "up" },
      { kind: "change", change: { ...change, position: 10 } },
      { kind: "connection", state: "up" },
    ]);
  });

  it("request an immediate retry from the leader", () => {
    const feed = openFeed(sink);
    feed.retry();
    expect(FakeChannel.last.posted.at(-1)).toEqual({ kind: "retry" });
    takeLead?.();
    latest().onerror?.();
    say({ kind: "retry" });
    expect(FakeSource.opened).toHaveLength(2);
  });
});
