import { createServer, type RequestListener } from "node:http";
import { sampleHost } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient, type HttpClient } from "./client.ts";
import type { HttpEvent } from "./client-events.ts";
import { listen } from "./http-server.ts";
import type { HttpServer } from "./serve.ts";
import {
  approvalRow,
  changeRow,
  createFakeService,
  delta,
  type FakeService,
  question,
  ruleId,
  runRow,
  serveFake,
  sessionA,
  sessionB,
  sessionRow,
  storedRule,
  token,
  unknownId,
} from "./service.fixture.ts";

let service: FakeService;
let server: HttpServer;
let client: HttpClient;
const stops: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  service = createFakeService();
  server = await serveFake(service);
  client = createHttpClient({ url: server.url, token });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await server.close();
});

const undoRequest = { dryRun: true, partial: false, redo: false, by: "Ada" };

describe("a call", () => {
  it("returns the service's reply", async () => {
    service.commit(sessionRow(sessionA), runRow(sessionA, sessionA));
    expect(await client.status()).toEqual(await service.status());
    expect((await client.agents("/w")).agents).toMatchObject([{ id: "lead", path: "/w" }]);
    expect((await client.agents(null)).agents).toMatchObject([{ id: "lead", path: "none" }]);
    expect(await client.teams("/w")).toMatchObject({ teams: [{ name: "news", path: "/w" }], problems: [] });
    expect(await client.teams(null)).toEqual({ teams: [], problems: [] });
    expect(await client.agentStats(86_400_000)).toEqual(await service.agentStats(86_400_000));
    expect(await client.sessions({ limit: 1 })).toEqual({ position: 1, sessions: [sessionRow(sessionA)] });
    expect(await client.session(sessionA)).toEqual(await service.record.session(sessionA));
    expect(await client.response(sessionA)).toBeNull();
    service.changeRows.push(changeRow(1), changeRow(2));
    expect(await client.changes({ run: sessionA }, { limit: 1 })).toEqual({ changes: [changeRow(1)], next: 1 });
    expect(await client.changes({ session: sessionA }, { after: 1 })).toEqual({ changes: [changeRow(2)], next: null });
    expect(await client.entries(sessionA)).toEqual({ entries: [], next: null, omitted: [] });
    expect(await client.submit({ task: "x" })).toMatchObject({ session: sessionA });
    expect(await client.cancel(sessionA)).toMatchObject({ outcome: "requested" });
    expect(service.commands).toEqual([
      'submit {"task":"x","origin":"api"}',
      `cancel ${sessionA} cancelled by the user`,
    ]);
  });

  it("reaches every method of the service", async () => {
    service.hostRows.push(sampleHost({ host: "worker-a" }));
    service.commit(sessionRow(sessionA), approvalRow(question, sessionA));
    const requested = { session: sessionA, run: sessionA, outcome: "requested", status: "running" };
    expect(await client.cancelRun(sessionA, "enough")).toEqual(requested);
    expect(await client.steer(sessionA, "go left", "Ada")).toEqual(requested);
    expect(await client.undo(sessionA, undoRequest)).toMatchObject({ run: sessionA, outcome: "planned" });
    expect(await client.pause(sessionA, "Ada")).toEqual(requested);
    expect(await client.resume(sessionA, "Ada")).toEqual(requested);
    expect(await client.explain(sessionA)).toEqual(await service.explain(sessionA));
    expect(await client.approvals()).toEqual({ position: 1, approvals: [approvalRow(question, sessionA)] });
    expect(await client.approvals({ waiting: false, limit: 1 })).toMatchObject({ approvals: [{ id: question }] });
    expect(await client.approval(question)).toEqual(approvalRow(question, sessionA));
    expect(await client.approval(unknownId)).toBeNull();
    expect(await client.answer(question, { approved: true, scope: "rule" })).toEqual({
      approval: approvalRow(question, sessionA),
      outcome: "answered",
      rule: storedRule,
    });
    expect(await client.rules()).toEqual([storedRule]);
    expect(await client.removeRule(ruleId)).toEqual(storedRule);
    expect(await client.hosts()).toEqual([sampleHost({ host: "worker-a" })]);
    expect(await client.drainHost("worker-a", "Ada")).toEqual({ host: "worker-a", outcome: "requested" });
    expect(service.commands.map((command) => command.split(" {", 1)[0])).toEqual([
      `cancelRun ${sessionA} enough`,
      `steer ${sessionA} go left Ada`,
      `undo ${sessionA}`,
      `pause ${sessionA} Ada`,
      `resume ${sessionA} Ada`,
      `answer ${question}`,
      `removeRule ${ruleId}`,
      "drainHost worker-a Ada",
    ]);
  });

  it.each<[string, () => Promise<unknown>, object]>([
    ["a run", () => client.steer(unknownId, "x", "y"), { code: "UNKNOWN_RUN", fix: expect.stringContaining("troupe") }],
    ["grants", () => client.explain(unknownId), { code: "UNKNOWN_RUN" }],
    [
      "an answer",
      () => client.answer(unknownId, { approved: true }),
      { code: "UNKNOWN_APPROVAL", fix: "troupe approvals ls" },
    ],
    ["a host", () => client.drainHost("worker-z", "Ada"), { code: "UNKNOWN_HOST", fix: "troupe hosts ls" }],
    ["a rule", () => client.removeRule(unknownId), { code: "UNKNOWN_RULE", fix: "troupe rules ls" }],
    [
      "words",
      () => client.steer(sessionA, " ", "y"),
      { code: "USAGE", message: expect.stringContaining("the message is empty") },
    ],
  ])("for an unknown %s throws the daemon's error", async (_, asked, error) => {
    await expect(asked()).rejects.toMatchObject(error);
  });

  it("throws the daemon's error with its code and its fix", async () => {
    await expect(client.session(unknownId)).rejects.toMatchObject({
      code: "UNKNOWN_SESSION",
      message: expect.stringContaining(unknownId),
      fix: "troupe sessions ls",
    });
    const stranger = createHttpClient({ url: server.url, token: "wrong" });
    await expect(stranger.status()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await expect(client.submit({ task: " " })).rejects.toMatchObject({ code: "USAGE" });
  });

  it("names the address if no server answers", async () => {
    await server.close();
    await expect(client.status()).rejects.toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringMatching(`${server.url}.*ECONNREFUSED`),
    });
  });

  it("times out", async () => {
    service.status = () => new Promise(() => {});
    const hasty = createHttpClient({ url: server.url, token, timeoutMs: 30 });
    await expect(hasty.status()).rejects.toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining(server.url),
    });
  });

  it("recognises a foreign server and follows no redirect", async () => {
    const seen: (string | undefined)[] = [];
    const url = await serveRaw((request, response) => {
      seen.push(request.headers.authorization);
      if (request.url === "/api/v1/status") response.writeHead(404).end("<h1>Not found</h1>");
      else response.writeHead(302, { location: `${server.url}/api/v1/status` }).end();
    });
    const lost = createHttpClient({ url, token: "of another daemon" });
    await expect(lost.status()).rejects.toMatchObject({
      code: "INVALID_MESSAGE",
      message: expect.stringContaining(url),
    });
    await expect(lost.sessions()).rejects.toMatchObject({ code: "UNREACHABLE" });
    expect(seen).toHaveLength(2);
  });
});

describe("events", () => {
  it("arrive in order after a position, until the caller stops", async () => {
    service.commit(sessionRow(sessionA, { task: "missed" }));
    const events = follow({ after: 0 });
    expect(await events.next()).toMatchObject({
      type: "change",
      change: { position: 1, sessions: [{ task: "missed" }] },
    });
    service.emit(delta(sessionA, "hello"));
    expect(await events.next()).toEqual({ type: "live", event: delta(sessionA, "hello") });
    service.commit(sessionRow(sessionA, { task: "new" }));
    expect(await events.next()).toMatchObject({ type: "change", change: { sessions: [{ task: "new" }] } });
    events.stop();
    expect(await events.next()).toBeNull();
    await expect.poll(() => service.listeners(), { interval: 5 }).toBe(0);
  });

  it("are those of one session when one is named", async () => {
    const events = follow({ after: 0, session: sessionA });
    service.commit(sessionRow(sessionB, { task: "other" }));
    service.commit(sessionRow(sessionA, { task: "mine" }));
    expect(await events.next()).toMatchObject({
      type: "change",
      change: { position: 2, sessions: [{ task: "mine" }] },
    });
  });

  it("include approvals of the session, and none of another", async () => {
    const events = follow({ after: 0, session: sessionA });
    service.commit(approvalRow(question, sessionB));
    service.commit(approvalRow(question, sessionB), approvalRow(ruleId, sessionA));
    expect(await events.next()).toMatchObject({
      type: "change",
      change: { position: 2, approvals: [{ id: ruleId }] },
    });
  });

  it("ask for a reload if too much was missed", async () => {
    service.tooManyChanges = 0;
    service.commit(sessionRow(sessionA));
    expect(await follow({ after: 0 }).next()).toEqual({ type: "resync" });
  });

  it("continue without gap or repeat after the daemon closed a stream", async () => {
    const events = follow({ after: 0 });
    let last = 0;
    let pending = events.next();
    for (let round = 1; round <= 3; round++) {
      await expect.poll(() => service.listeners(), { interval: 5 }).toBe(1);
      const wanted = burst(`round ${round}`);
      await expect.poll(() => service.listeners(), { interval: 5 }).toBe(0);
      while (last < wanted) {
        const event = await pending;
        pending = events.next();
        if (event?.type !== "change") throw new Error(`${event?.type} instead of a change`);
        expect(event.change.position).toBeGreaterThan(last);
        last = event.change.position;
        if (last === wanted) expect(event.change.sessions[0]?.task).toMatch(`round ${round}, last`);
      }
    }
    events.stop();
    expect(await pending).toBeNull();
  });

  it("that start from now keep their position over new connections", async () => {
    const paths: (string | undefined)[] = [];
    const url = await serveRaw((request, response) => {
      paths.push(request.url);
      response.end(paths.length === 1 ? ":\nid: 7\n\n" : "event: resync\nid: 9\ndata: {}\n\n");
    });
    const { signal } = new AbortController();
    const events = createHttpClient({ url, token }).events({ signal })[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: "resync" });
    await events.next();
    await events.return?.();
    expect(paths).toEqual(["/api/v1/events", "/api/v1/events?after=7", "/api/v1/events?after=9"]);
  });

  it("end with the address if the daemon is gone", async () => {
    const events = follow({ after: 0 });
    service.commit(sessionRow(sessionA));
    await events.next();
    await server.close();
    await expect(events.next()).rejects.toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining(server.url),
    });
  });

  it("end at once with a wrong token", async () => {
    const stranger = createHttpClient({ url: server.url, token: "wrong" });
    const { signal } = new AbortController();
    await expect(stranger.events({ signal })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "UNAUTHORIZED",
    });
  });

  it("reconnect if the heartbeat is missing", async () => {
    let connections = 0;
    const url = await serveRaw((_, response) => {
      connections++;
      response.flushHeaders();
      if (connections >= 3) response.write("event: resync\nid: 1\ndata: {}\n\n");
    });
    const patient = createHttpClient({ url, token, silenceMsMax: 300 });
    const abort = new AbortController();
    const events = patient.events({ signal: abort.signal })[Symbol.asyncIterator]();
    expect(await events.next()).toEqual({ done: false, value: { type: "resync" } });
    expect(connections).toBeGreaterThanOrEqual(3);
    abort.abort();
    expect((await events.next()).done).toBe(true);
  });
});

/** Commits more at once than a stream may hold, so the daemon closes it. Returns the last position. */
function burst(name: string): number {
  for (let i = 0; i < 8; i++) service.commit(sessionRow(sessionA, { task: `${name}, ${i} ${"x".repeat(50_000)}` }));
  return service.commit(sessionRow(sessionA, { task: `${name}, last` }));
}

/** A server that is not a daemon. */
async function serveRaw(answer: RequestListener): Promise<string> {
  const raw = createServer(answer);
  const port = await listen(raw, "127.0.0.1", 0);
  stops.push(async () => {
    raw.closeAllConnections();
    raw.close();
  });
  return `http://127.0.0.1:${port}`;
}

function follow(options: { session?: string; after?: number }) {
  const abort = new AbortController();
  const events = client.events({ ...options, signal: abort.signal })[Symbol.asyncIterator]();
  stops.push(async () => abort.abort());
  return {
    stop: () => abort.abort(),
    next: async (): Promise<HttpEvent | null> => {
      const { done, value } = await events.next();
      return done ? null : value;
    },
  };
}
