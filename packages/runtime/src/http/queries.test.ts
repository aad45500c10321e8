import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient, type HttpClient } from "./client.ts";
import type { HttpServer } from "./serve.ts";
import {
  createFakeService,
  type FakeService,
  runRow,
  serveFake,
  sessionA,
  sessionRow,
  token,
  unknownId,
} from "./service.fixture.ts";
import { clientHeaders, errorOf, send } from "./wire.fixture.ts";

let service: FakeService;
let server: HttpServer;
let client: HttpClient;
beforeEach(async () => {
  service = createFakeService();
  service.commit(sessionRow(sessionA), runRow(sessionA, sessionA));
  server = await serveFake(service);
  client = createHttpClient({ url: server.url, token });
});
afterEach(() => server.close());

const get = (path: string) => send(server.port, { path, headers: clientHeaders(server.port) });

const sinceMs = Date.UTC(2026, 0, 31, 8);

describe("the queries of a client", () => {
  it("give the same answers as those of the record", async () => {
    const { queries: own } = service.record;
    const { queries } = client;
    const search = { words: '"a b" c* & d=1', sinceMs, agent: "news/lead", after: 12, limit: 3 };
    expect(await queries.search(search)).toEqual(await own.search(search));
    const first = { words: "a", sinceMs: null, agent: null, after: null, limit: 20 };
    expect(await queries.search(first)).toEqual(await own.search(first));
    expect(await queries.costs({ by: "day", sinceMs })).toEqual(await own.costs({ by: "day", sinceMs }));
    const totals = { sinceMs: null, branches: 4 };
    expect(await queries.totals(totals)).toEqual(await own.totals(totals));
    const page = { after: -1, limit: 5 };
    expect(await queries.tree(sessionA, page)).toEqual(await own.tree(sessionA, page));
    expect(await queries.children(sessionA, { after: 2, limit: 5 })).toEqual({ nodes: [], next: 7 });
    expect(await queries.ancestors(sessionA)).toEqual(await own.ancestors(sessionA));
    expect(await queries.runTimeline(sessionA)).toEqual(await own.runTimeline(sessionA));
    const part = { from: 3, limit: 9 };
    expect(await queries.conversation(sessionA, part)).toEqual(await own.conversation(sessionA, part));
    expect(await queries.idsWith("01990000", { limit: 5 })).toEqual([
      { kind: "session", id: sessionA, session: sessionA },
    ]);
  });

  it("are null for unknown ids, as those of the record", async () => {
    const { queries } = client;
    const page = { after: -1, limit: 5 };
    const answers = [
      queries.tree(unknownId, page),
      queries.children(unknownId, page),
      queries.ancestors(unknownId),
      queries.runTimeline(unknownId),
      queries.conversation(unknownId, { from: 0, limit: 5 }),
    ];
    expect(await Promise.all(answers)).toEqual([null, null, null, null, null]);
  });
});

describe("a route of queries", () => {
  it.each([
    ["/api/v1/costs?by=colour", "use one of agent, role, model, team, day"],
    ["/api/v1/costs?since=soon", "use a duration such as 7d"],
    ["/api/v1/search?q=a&since=-1d", "use a duration such as 7d"],
    ["/api/v1/search?q=a&limit=0", "whole number from 1 to 200"],
    ["/api/v1/stats?branches=1000", "whole number from 1 to 100"],
    [`/api/v1/sessions/${sessionA}/tree?limit=5000`, "whole number from 1 to 300"],
  ])("refuses %s with a fix", async (path, fix) => {
    const reply = await get(path);
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: "USAGE", fix: expect.stringContaining(fix) });
  });

  it("refuses a prefix that no id can begin with, and the client has no match without asking", async () => {
    const reply = await get("/api/v1/ids/last");
    expect([reply.status, errorOf(reply)]).toMatchObject([400, { code: "USAGE", fix: expect.stringContaining("hex") }]);
    expect(await client.queries.idsWith("a/../b", { limit: 5 })).toEqual([]);
    expect(await client.queries.idsWith("", { limit: 5 })).toEqual([]);
  });

  it("answers at its path of earlier versions too", async () => {
    for (const path of ["search?q=a&after=3", "costs?by=day&since=", `runs/${sessionA}/ancestors`, "ids/01990000"]) {
      const [old, now] = [await get(`/api/${path}`), await get(`/api/v1/${path}`)];
      expect([old.status, old.text]).toEqual([200, now.text]);
      expect([old.headers.deprecation, now.headers.deprecation]).toEqual(["@1795132800", undefined]);
    }
  });

  it("accepts a duration as the time to look back", async () => {
    const before = Date.now();
    const reply = await get("/api/v1/costs?since=7d");
    const { since } = JSON.parse(reply.text) as { since: string };
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before - 7 * 86_400_000);
    expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() - 7 * 86_400_000);
  });
});
