import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RunRow, SessionRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { backlogBytesMax } from "./event-routes.ts";
import type { HttpServer } from "./serve.ts";
import {
  createFakeService,
  delta,
  type FakeService,
  runRow,
  serveFake,
  sessionA,
  sessionB,
  sessionRow,
} from "./service.fixture.ts";
import { parseFrames, type SseFrame } from "./sse.ts";
import { clientHeaders, gate, open } from "./wire.fixture.ts";

// A page must see every change of the record exactly once, even if its connection breaks.

let service: FakeService;
let server: HttpServer;
beforeEach(async () => {
  service = createFakeService();
  server = await serveFake(service, { heartbeatMs: 20 });
});
afterEach(() => server.close());

describe("a stream of changes", () => {
  it("starts from now without a position, and sends the current position", async () => {
    commitTasks("old");
    const stream = await follow("/api/v1/events");
    expect(await stream.next()).toEqual({ id: "1" });
    commitTasks("new");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "2", tasks: ["new"] });
  });

  it("sends missed changes first, then new ones", async () => {
    commitTasks("first", "second", "third");
    const stream = await follow("/api/v1/events?after=1");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "3", tasks: ["third"] });
    commitTasks("fourth");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "4", tasks: ["fourth"] });
  });

  it("sends nothing to a client that missed nothing", async () => {
    commitTasks("first");
    const stream = await follow("/api/v1/events?after=1");
    expect(await stream.next()).toEqual({ id: "1" });
  });

  it("starts after Last-Event-ID, even if the query names another position", async () => {
    commitTasks("first", "second");
    const stream = await follow("/api/v1/events?after=0", { "Last-Event-ID": "2" });
    commitTasks("third");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "3", tasks: ["third"] });
  });

  it("has no gap or repeat if changes arrive while the missed ones are read", async () => {
    commitTasks("first");
    const { changesSince } = service.record;
    // Committed before the answer, which includes it; and after the answer, which does not.
    service.record.changesSince = async (position) => {
      commitTasks("second");
      const missed = await changesSince(position);
      commitTasks("third");
      return missed;
    };
    const stream = await follow("/api/v1/events?after=0");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "2", tasks: ["second"] });
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "3", tasks: ["third"] });
    commitTasks("fourth");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "4", tasks: ["fourth"] });
  });

  it.each([
    ["too much was missed", "/api/v1/events?after=0"],
    ["the position belongs to a deleted record", "/api/v1/events?after=99"],
  ])("sends resync if %s, and continues from there", async (_, path) => {
    service.tooManyChanges = 1;
    commitTasks("first", "second", "third");
    const stream = await follow(path);
    expect(await stream.nextEvent()).toEqual({ event: "resync", id: "3" });
    commitTasks("fourth");
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "4", tasks: ["fourth"] });
  });

  it("sends resync instead of a change above the bound of a stream", async () => {
    const stream = await follow("/api/v1/events");
    service.commit(sessionRow(sessionA, { task: "x".repeat(backlogBytesMax.stream) }));
    commitTasks("small");
    expect(await stream.nextEvent()).toEqual({ event: "resync", id: "1" });
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "2", tasks: ["small"] });
  });

  it("of one session skips the others, but its position advances", async () => {
    const stream = await follow(`/api/v1/events?session=${sessionA}`);
    service.commit(sessionRow(sessionB), runRow(sessionB, sessionB));
    expect(await stream.until(({ id }) => id === "1")).toEqual({ id: "1" });
    service.commit(
      sessionRow(sessionA, { task: "mine" }),
      runRow(sessionA, sessionA),
      sessionRow(sessionB),
      runRow(sessionB, sessionB),
    );
    service.emit(delta(sessionB, "theirs"));
    service.emit(delta(sessionA, "mine"));
    expect(await stream.nextEvent()).toEqual({ event: "change", id: "2", tasks: ["mine", "do it"] });
    expect(await stream.nextEvent()).toEqual({ event: "live", text: "mine" });
  });

  it("carries live events without an id, which would move the position", async () => {
    const stream = await follow("/api/v1/events");
    await stream.next();
    service.emit(delta(sessionA, "hello"));
    expect(await stream.nextEvent()).toEqual({ event: "live", text: "hello" });
  });

  it("sends heartbeats while nothing happens", async () => {
    const stream = await follow("/api/v1/events");
    expect([await stream.next(), await stream.next(), await stream.next()]).toEqual([
      { id: "0" },
      { id: "0" },
      { id: "0" },
    ]);
  });

  it("must not be cached", async () => {
    const stream = await follow("/api/v1/events");
    expect(stream.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

  it("stops listening when the client disconnects", async () => {
    const stream = await follow("/api/v1/events");
    await stream.next();
    expect(service.listeners()).toBe(1);
    stream.response.destroy();
    await waitForListeners(0);
  });

  it("stops listening when the client disconnects while the missed changes are read", async () => {
    const [asked, release] = [gate(), gate()];
    service.record.changesSince = async (position) => {
      asked.open();
      await release.opened;
      return { position, sessions: [], runs: [], approvals: [] };
    };
    const socket = await stall("/api/v1/events?after=0");
    await asked.opened;
    socket.destroy();
    await waitForListeners(0);
    release.open();
  });

  it("fails as a request if the record cannot be read", async () => {
    service.record.changesSince = () => Promise.reject(new Error("disk"));
    const response = await open(server.port, { path: "/api/v1/events?after=0", headers: clientHeaders(server.port) });
    response.resume();
    expect([response.statusCode, service.listeners()]).toEqual([500, 0]);
  });
});

describe("a client that does not read", () => {
  it("loses live events, is disconnected, and catches up from its position", async () => {
    const socket = await stall("/api/v1/events");
    await waitForListeners(1);
    let commits = 0;
    while (service.listeners() > 0) {
      service.emit(delta(sessionA, "x".repeat(1_000)));
      service.commit(sessionRow(sessionA, { task: `${++commits} ${"x".repeat(50_000)}` }));
      await new Promise(setImmediate);
    }
    const seen = await drain(socket);
    const lastId = Number(seen.at(-1)?.id ?? 0);
    expect(lastId).toBeLessThan(commits);

    const stream = await follow("/api/v1/events", { "Last-Event-ID": String(lastId) });
    expect(await stream.nextEvent()).toMatchObject({ event: "change", id: String(commits) });
  });

  it("loses live events but stays connected", async () => {
    const socket = await stall("/api/v1/events");
    await waitForListeners(1);
    const before = liveMemory();
    for (let i = 0; i < 500; i++) {
      for (let j = 0; j < 100; j++) service.emit(delta(sessionA, `${i} ${"x".repeat(1_000)}`));
      await new Promise(setImmediate);
    }
    expect(liveMemory() - before).toBeLessThan(5 * 1024 * 1024);
    expect(service.listeners()).toBe(1);
    commitTasks("after the flood");
    expect((await firstChange(socket))?.id).toBe("1");
  });

  it("does not delay another client", async () => {
    await stall("/api/v1/events");
    const reader = await follow("/api/v1/events");
    await waitForListeners(2);
    for (let i = 1; i <= 200; i++) {
      service.commit(sessionRow(sessionA, { task: "x".repeat(50_000) }));
      expect((await reader.nextEvent()).id).toBe(String(i));
    }
  });

  it("costs a bounded amount of memory, even with many clients", async () => {
    const clients = inject("long") ? 200 : 50;
    for (let i = 0; i < clients; i++) await stall(i % 2 ? "/api/v1/events" : `/api/v1/events?session=${sessionA}`);
    await waitForListeners(clients);
    const before = liveMemory();
    let most = 0;
    for (let commits = 1; service.listeners() > 0; commits++) {
      service.emit(delta(sessionA, "x".repeat(1_000)));
      service.commit(sessionRow(sessionA, { task: `${commits} ${"x".repeat(50_000)}` }));
      await new Promise(setImmediate);
      if (commits % 10 === 0) most = Math.max(most, liveMemory() - before);
    }
    expect(most).toBeLessThan(clients * 512 * 1024);
  });
});

/** Heap size after garbage collection. */
function liveMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const collectGarbage = ((): (() => void) => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
})();

function commitTasks(...tasks: string[]): void {
  for (const task of tasks) service.commit(sessionRow(sessionA, { task }));
}

/** Node has no event for a removed listener, so this polls the listener count. */
async function waitForListeners(count: number): Promise<void> {
  await expect.poll(() => service.listeners(), { interval: 5 }).toBe(count);
}

interface Seen {
  event?: string;
  id?: string;
  /** Tasks of the rows of a change. */
  tasks?: string[];
  /** Text of a live event. */
  text?: string;
}

interface Followed {
  response: IncomingMessage;
  next(): Promise<Seen>;
  /** Passes over heartbeats. */
  nextEvent(): Promise<Seen>;
  until(isIt: (seen: Seen) => boolean): Promise<Seen>;
}

async function follow(path: string, headers: Record<string, string> = {}): Promise<Followed> {
  const response = await open(server.port, { path, headers: { ...clientHeaders(server.port), ...headers } });
  const frames = parseFrames(response);
  const next = async (): Promise<Seen> => {
    const { value } = await frames.next();
    if (!value) throw new Error("the stream has ended");
    return toSeen(value);
  };
  const until = async (isIt: (seen: Seen) => boolean): Promise<Seen> => {
    for (;;) {
      const seen = await next();
      if (isIt(seen)) return seen;
    }
  };
  return { response, next, until, nextEvent: () => until(({ event }) => event !== undefined) };
}

function toSeen({ data, ...seen }: SseFrame): Seen {
  if (data === undefined || seen.event === "resync") return seen;
  if (seen.event === "live") return { ...seen, text: JSON.parse(data).text };
  const { sessions, runs }: RecordChange = JSON.parse(data);
  return { ...seen, tasks: [...sessions, ...runs].map((row: SessionRow | RunRow) => row.task) };
}

/** Opens a stream without reading it. */
async function stall(path: string): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.pause();
  const headers = Object.entries(clientHeaders(server.port)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${headers.join("")}\r\n`);
  return socket;
}

async function firstChange(socket: Socket): Promise<SseFrame | null> {
  for await (const frame of parseFrames(socket)) if (frame.event === "change") return frame;
  return null;
}

/** Reads the bytes that are still buffered for a slow client. */
async function drain(socket: Socket): Promise<SseFrame[]> {
  const seen: SseFrame[] = [];
  try {
    for await (const frame of parseFrames(socket)) seen.push(frame);
  } catch {
    // A closed connection can end with an error.
  }
  return seen;
}
