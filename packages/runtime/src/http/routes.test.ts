import { RunResponse, TroupeError } from "@troupe/core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HttpServer } from "./serve.ts";
import { createFakeService, nobody, runRow, serveFake, sessionA, sessionB, sessionRow } from "./service.fixture.ts";
import { errorOf, honest, send, type WireResponse } from "./wire.fixture.ts";

const service = createFakeService();
const failures: unknown[] = [];
let server: HttpServer;
beforeAll(async () => {
  service.commit(sessionRow(sessionA), runRow(sessionA, sessionA));
  service.commit(sessionRow(sessionB));
  server = await serveFake(service, { onError: (error) => failures.push(error) });
});
afterAll(() => server.close());
beforeEach(() => {
  service.wishes.length = 0;
  failures.length = 0;
});

describe("what is asked for", () => {
  it.each([
    ["/api/status", { provider: "demo", kind: "daemon" }],
    ["/api/agents", { agents: [{ id: "lead", path: "none" }], problems: [] }],
    ["/api/agents?workspace=/my/project", { agents: [{ path: "/my/project" }] }],
    ["/api/sessions", { position: 2, sessions: [{ session: sessionA }, { session: sessionB }] }],
    ["/api/sessions?limit=1", { position: 2, sessions: [{ session: sessionA }] }],
    [`/api/sessions/${sessionA}`, { position: 2, session: { session: sessionA }, runs: [{ run: sessionA }] }],
    [`/api/runs/${sessionA}/entries`, { entries: [], next: null, omitted: [] }],
  ])("%s", async (path, expected) => {
    const answer = await get(path);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, expected]);
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  });

  it("a response, once there is one", async () => {
    const path = `/api/sessions/${sessionA}/response`;
    expect(await outcome(path)).toBe("409 CONFLICT");
    const response = RunResponse.parse({ ...emptyResponse, runId: sessionA, sessionId: sessionA });
    service.record.response = async () => response;
    const answer = await get(path);
    service.record.response = async () => null;
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, response]);
  });
});

describe("what is wished for", () => {
  it("a session", async () => {
    const answer = await post("/api/sessions", { task: " say hello ", agent: "lead" });
    expect([answer.status, JSON.parse(answer.text).session]).toEqual([201, sessionA]);
    expect(service.wishes).toEqual(['submit {"task":"say hello","agent":"lead","origin":"api"}']);
  });

  it("its end", async () => {
    const answer = await post(`/api/sessions/${sessionA}/cancel`, { reason: "enough" });
    expect([answer.status, JSON.parse(answer.text).outcome]).toEqual([200, "requested"]);
    await send(server.port, { method: "POST", path: `/api/sessions/${sessionB}/cancel`, headers: honest(server.port) });
    expect(service.wishes).toEqual([`cancel ${sessionA} enough`, `cancel ${sessionB} cancelled by the user`]);
  });
});

describe("entries come in pages of at most 1 MB", () => {
  const pageBytesMax = 1024 * 1024;

  it("which follow each other without a gap", async () => {
    const texts = Array.from({ length: 30 }, (_, index) => JSON.stringify({ index, text: "x".repeat(100_000) }));
    service.entryTexts.set(sessionA, texts);
    const seen: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const answer = await get(`/api/runs/${sessionA}/entries?from=${from}&limit=20`);
      expect(answer.text.length).toBeLessThanOrEqual(pageBytesMax);
      const page: { entries: { index: number }[]; next: number | null } = JSON.parse(answer.text);
      seen.push(...page.entries.map(({ index }) => index));
      from = page.next;
    }
    expect(seen).toEqual(texts.map((_, index) => index));
  });

  it("and leave out what fits on none, by index", async () => {
    service.entryTexts.set(sessionA, ['{"index":0}', JSON.stringify("x".repeat(2 * pageBytesMax)), '{"index":2}']);
    const answer = await get(`/api/runs/${sessionA}/entries`);
    expect(JSON.parse(answer.text)).toEqual({ entries: [{ index: 0 }, { index: 2 }], next: null, omitted: [1] });
  });
});

describe("a mistake is told", () => {
  it.each([
    ["an unknown session", `/api/sessions/${nobody}`, "404 UNKNOWN_SESSION"],
    ["a session that is no id", "/api/sessions/../../etc", "404 USAGE"],
    ["a session that is a word", "/api/sessions/latest", "404 UNKNOWN_SESSION"],
    ["the response of an unknown session", `/api/sessions/${nobody}/response`, "404 UNKNOWN_SESSION"],
    ["the entries of an unknown run", `/api/runs/${nobody}/entries`, "404 UNKNOWN_SESSION"],
    ["a limit that is no number", "/api/sessions?limit=many", "400 USAGE"],
    ["a limit beyond the most", "/api/sessions?limit=501", "400 USAGE"],
    ["a negative start", `/api/runs/${sessionA}/entries?from=-1`, "400 USAGE"],
    ["a position that is no number", "/api/events?after=now", "400 USAGE"],
    ["an unknown path", "/api/nothing", "404 USAGE"],
  ])("%s", async (_, path, expected) => {
    expect(await outcome(path)).toBe(expected);
  });

  it.each([
    ["no task", "{}", "400 USAGE"],
    ["an empty task", '{"task":"  "}', "400 USAGE"],
    ["an agent that is no name", '{"task":"x","agent":"a b"}', "400 USAGE"],
    ["no JSON", "task=x", "400 USAGE"],
    ["nothing", "", "400 USAGE"],
    ["more than 1 MB", JSON.stringify({ task: "x".repeat(1024 * 1024) }), "413 TOO_LARGE"],
  ])("in the body: %s", async (_, body, expected) => {
    const answer = await send(server.port, {
      method: "POST",
      path: "/api/sessions",
      headers: honest(server.port),
      body,
    });
    expect(`${answer.status} ${errorOf(answer).code}`).toBe(expected);
    expect(service.wishes).toEqual([]);
  });

  it("in a body that does not announce its length", async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(256 * 1024).fill(32)),
    });
    const { Host: _, ...headers } = honest(server.port);
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const answer = await fetch(`${server.url}/api/sessions`, init);
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "TOO_LARGE" } }]);
  });

  it("with the value and the next step", async () => {
    const error = errorOf(await get("/api/sessions?limit=many"));
    expect(error).toEqual({ code: "USAGE", message: 'limit is "many"', fix: "give a whole number, 1 to 500" });
  });
});

describe("a failure of the service", () => {
  it.each([
    ["UNKNOWN_AGENT", 400],
    ["UNKNOWN_SCENARIO", 400],
    ["UNKNOWN_SESSION", 404],
    ["NO_PROVIDER", 409],
    ["DATABASE_DAMAGED", 500],
    ["UNREACHABLE", 503],
  ] as const)("%s is told as it is, with status %d", async (code, status) => {
    const answer = await failWith(new TroupeError(code, "what happened", { fix: "do this" }));
    expect([answer.status, errorOf(answer)]).toEqual([status, { code, message: "what happened", fix: "do this" }]);
  });

  it("that nobody foresaw is told without its words, and reported", async () => {
    const bug = new Error("secret at /home/me");
    const answer = await failWith(bug);
    expect([answer.status, errorOf(answer).code]).toEqual([500, "INTERNAL"]);
    expect(answer.text).not.toMatch(/secret|\bat\b .*\.ts/);
    expect(failures).toEqual([bug]);
  });
});

async function failWith(error: Error): Promise<WireResponse> {
  const { status } = service;
  service.status = () => Promise.reject(error);
  const answer = await get("/api/status");
  service.status = status;
  return answer;
}

function get(path: string): Promise<WireResponse> {
  return send(server.port, { path, headers: honest(server.port) });
}

function post(path: string, body: unknown): Promise<WireResponse> {
  return send(server.port, { method: "POST", path, headers: honest(server.port), body: JSON.stringify(body) });
}

async function outcome(path: string): Promise<string> {
  const answer = await get(path);
  return `${answer.status} ${errorOf(answer).code}`;
}

const zeros = { iterations: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: null };
const emptyResponse = {
  agent: "lead",
  request: "do it",
  status: "completed",
  success: true,
  summary: "done",
  details: "",
  data: null,
  findings: [],
  confidence: null,
  domain: null,
  filesCreated: [],
  filesModified: [],
  artifacts: [],
  testsRun: 0,
  testsPassed: 0,
  warnings: [],
  suggestions: [],
  toolsUsed: [],
  error: null,
  bailoutReason: null,
  metrics: { ...zeros, contextSize: 0, durationMs: 1, subtree: { ...zeros, runs: 1 } },
};
