import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FeedSink, openFeed } from "./feed.ts";

/** Stands in for the browser's: the test says what the server does. */
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

/** A channel whose other end is the test. */
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

let heard: string[];
let position: number;
let sink: FeedSink;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", FakeSource);
  vi.stubGlobal("navigator", {});
  FakeSource.opened = [];
  heard = [];
  position = 7;
  sink = {
    position: () => position,
    change: (change) => {
      position = change.position;
      heard.push(`change ${change.position}`);
    },
    live: (event) => heard.push(`live ${event.kind}`),
    resync: () => heard.push("resync"),
    connection: (state) => heard.push(state),
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
  it("passes on what the daemon sends", () => {
    openFeed(sink);
    latest().onopen?.();
    latest().send("change", change);
    latest().send("live", { kind: "text.delta" });
    latest().send("resync", {});
    expect(heard).toEqual(["up", "change 9", "live text.delta", "resync"]);
  });

  it("is opened anew from where the page is by then, ever more slowly until it works", () => {
    openFeed(sink);
    expect(latest().url).toBe("/api/events?after=7");
    latest().send("change", change);
    latest().onerror?.();
    expect(latest().closed).toBe(true);
    vi.advanceTimersByTime(500);
    expect(latest().url).toBe("/api/events?after=9");
    latest().onerror?.();
    vi.advanceTimersByTime(999);
    expect(FakeSource.opened).toHaveLength(2);
    vi.advanceTimersByTime(1);
    expect(FakeSource.opened).toHaveLength(3);
    latest().onopen?.();
    latest().onerror?.();
    vi.advanceTimersByTime(500);
    expect(FakeSource.opened).toHaveLength(4);
    expect(heard).toEqual(["change 9", "down", "down", "up", "down"]);
  });

  it("is opened at once when asked, and only once", () => {
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

  it("that do not lead open no stream, and hear what the leader passes on", () => {
    openFeed(sink);
    expect(FakeChannel.last.posted).toEqual([{ kind: "hello" }]);
    say({ kind: "connection", state: "up" });
    say({ kind: "change", change });
    expect(heard).toEqual(["up", "change 9"]);
    expect(FakeSource.opened).toHaveLength(0);
  });

  it("that are behind a new leader load anew; those that are not go on", () => {
    openFeed(sink);
    say({ kind: "leading", after: 7 });
    expect(heard).toEqual([]);
    say({ kind: "leading", after: 8 });
    expect(heard).toEqual(["resync"]);
  });

  it("take over from where they are, pass everything on and answer those that come", () => {
    openFeed(sink);
    say({ kind: "change", change });
    takeLead?.();
    expect(latest().url).toBe("/api/events?after=9");
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

  it("ask the leader to try at once", () => {
    const feed = openFeed(sink);
    feed.retry();
    expect(FakeChannel.last.posted.at(-1)).toEqual({ kind: "retry" });
    takeLead?.();
    latest().onerror?.();
    say({ kind: "retry" });
    expect(FakeSource.opened).toHaveLength(2);
  });
});
