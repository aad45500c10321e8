import { RunResponse, TroupeError } from "@troupe/core";
import { sampleHost } from "@troupe/core/internal";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HttpServer } from "./serve.ts";
import {
  approvalRow,
  changeRow,
  createFakeService,
  question,
  ruleId,
  runRow,
  serveFake,
  sessionA,
  sessionB,
  sessionRow,
  storedRule,
  unknownId,
} from "./service.fixture.ts";
import { clientHeaders, errorOf, send, type WireResponse } from "./wire.fixture.ts";

const service = createFakeService();
const failures: unknown[] = [];
const answered = "01990000-0000-7000-8000-0000000000a1";
const decided = { state: "denied", scope: "once", by: "Ada", answeredAt: "2026-11-18T12:00:01.000Z" } as const;
let server: HttpServer;
beforeAll(async () => {
  service.commit(sessionRow(sessionA), runRow(sessionA, sessionA));
  service.commit(sessionRow(sessionB), approvalRow(question, sessionA), approvalRow(answered, sessionA, decided));
  server = await serveFake(service, { onError: (error) => failures.push(error) });
});
afterAll(() => server.close());
beforeEach(() => {
  service.changeRows.length = 0;
  service.hostRows = [sampleHost({ host: "worker-a" }), sampleHost({ host: "worker-b", status: "gone" })];
  service.commands.length = 0;
  failures.length = 0;
});

describe("a read returns", () => {
  it.each([
    ["/api/v1/status", { provider: "demo", kind: "daemon" }],
    ["/api/v1/agents", { agents: [{ id: "lead", path: "none" }], problems: [] }],
    ["/api/v1/agents?workspace=/my/project", { agents: [{ path: "/my/project" }] }],
    ["/api/v1/teams", { teams: [], problems: [] }],
    ["/api/v1/teams?workspace=/my/project", { teams: [{ name: "news", path: "/my/project" }], problems: [] }],
    [
      "/api/v1/agents/stats",
      { since: "2026-08-20T00:00:00.000Z", agents: [{ agent: "coder", parent: null, runs: 4 }] },
    ],
    ["/api/v1/agents/stats?since=1d12h", { since: "2026-11-16T12:00:00.000Z", pairs: [{ parent: "lead" }] }],
    ["/api/v1/sessions", { position: 2, sessions: [{ session: sessionA }, { session: sessionB }] }],
    ["/api/v1/sessions?limit=1", { position: 2, sessions: [{ session: sessionA }] }],
    [`/api/v1/sessions/${sessionA}`, { position: 2, session: { session: sessionA }, runs: [{ run: sessionA }] }],
    [`/api/v1/sessions/${sessionA}`, { approvals: [{ id: question }, { id: answered }] }],
    [`/api/v1/runs/${sessionA}/changes`, { changes: [], next: null }],
    [`/api/v1/sessions/${sessionA}/changes`, { changes: [], next: null }],
    [`/api/v1/sessions/${sessionA}/timeline?after=3`, { events: [{ kind: "opened" }], from: 3, next: 4, more: false }],
    [`/api/v1/runs/${sessionA}/entries`, { entries: [], next: null, omitted: [] }],
    [`/api/v1/runs/${sessionA}/explain`, { run: sessionA, verdicts: [{ name: "shell", removedBy: "policy" }] }],
    ["/api/v1/approvals", { position: 2, approvals: [{ id: question, state: "waiting" }] }],
    ["/api/v1/approvals?state=waiting", { approvals: [{ id: question }] }],
    ["/api/v1/approvals?state=all", { approvals: [{ id: question }, { id: answered, by: "Ada" }] }],
    ["/api/v1/approvals?state=all&limit=1", { approvals: [{ id: answered }] }],
    [`/api/v1/approvals/${answered}`, { id: answered, state: "denied" }],
    ["/api/v1/rules", { rules: [storedRule] }],
    ["/api/v1/hosts", { hosts: [sampleHost({ host: "worker-a" }), { host: "worker-b", status: "gone" }] }],
  ])("%s", async (path, expected) => {
    const answer = await get(path);
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, expected]);
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  });

  it("a response when it exists", async () => {
    const path = `/api/v1/sessions/${sessionA}/response`;
    expect(await outcome(path)).toBe("409 CONFLICT");
    const response = RunResponse.parse({ ...emptyResponse, runId: sessionA, sessionId: sessionA });
    service.record.response = async () => response;
    const answer = await get(path);
    service.record.response = async () => null;
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, response]);
  });
});

describe("a command reaches the service:", () => {
  it("submit a session", async () => {
    const answer = await post("/api/v1/sessions", { task: " say hello ", agent: "lead" });
    expect([answer.status, JSON.parse(answer.text).session]).toEqual([201, sessionA]);
    expect(service.commands).toEqual(['submit {"task":"say hello","agent":"lead","origin":"api"}']);
  });

  it("submit a session whose durations have units", async () => {
    await post("/api/v1/sessions", { task: "x", timeoutMs: "1h30m", limits: { maxDurationMs: "250ms" } });
    expect(JSON.parse(service.commands[0]?.replace("submit ", "") ?? "")).toMatchObject({
      timeoutMs: 5_400_000,
      limits: { maxDurationMs: 250 },
    });
    const refused = await post("/api/v1/sessions", { task: "x", timeoutMs: "5 min" });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("5m, 2h or 1h30m")]);
  });

  it("cancel a session", async () => {
    const answer = await post(`/api/v1/sessions/${sessionA}/cancel`, { reason: "enough" });
    expect([answer.status, JSON.parse(answer.text).outcome]).toEqual([200, "requested"]);
    await send(server.port, {
      method: "POST",
      path: `/api/v1/sessions/${sessionB}/cancel`,
      headers: clientHeaders(server.port),
    });
    expect(service.commands).toEqual([`cancel ${sessionA} enough`, `cancel ${sessionB} cancelled by the user`]);
  });

  it.each([
    ["cancel", { reason: "enough" }, `cancelRun ${sessionB} enough`],
    ["cancel", {}, `cancelRun ${sessionB} cancelled by the user`],
    ["steer", { text: " use the other \n", by: "Ada" }, `steer ${sessionB} use the other Ada`],
    ["steer", { text: "x" }, `steer ${sessionB} x a person`],
    ["steer", { text: "x".repeat(20_000) }, `steer ${sessionB} ${"x".repeat(20_000)} a person`],
    ["pause", { by: "Ada" }, `pause ${sessionB} Ada`],
    ["resume", {}, `resume ${sessionB} a person`],
  ])("about a run: %s", async (command, body, received) => {
    const answer = await post(`/api/v1/runs/${sessionB}/${command}`, body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { session: sessionA, run: sessionB, outcome: "requested", status: "running" },
    ]);
    expect(service.commands).toEqual([received]);
  });

  it("undoes the changes of a run, and lists its undos", async () => {
    service.commit(runRow(sessionB, sessionA));
    const answer = await post(`/api/v1/runs/${sessionB}/undo`, { dryRun: true, step: 3, paths: ["src"], by: "Ada" });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { run: sessionB, outcome: "planned" }]);
    const request = { step: 3, paths: ["src"], dryRun: true, partial: false, redo: false, by: "Ada" };
    expect(service.commands).toEqual([`undo ${sessionB} ${JSON.stringify(request)}`]);
    const row = { undo: question, session: sessionA, run: sessionB, by: "Ada", step: null, redoes: null, files: [] };
    const at = "2026-11-18T12:00:00.000Z";
    service.undoRows = [
      { ...row, at, finishedAt: at },
      { ...row, run: sessionA, at, finishedAt: null },
    ];
    const listed = await get(`/api/v1/runs/${sessionB}/undos`);
    expect(JSON.parse(listed.text)).toEqual({ undos: [{ ...row, at, finishedAt: at }] });
  });

  it.each([
    [{ approved: true }, { approved: true, scope: "once", anyArguments: false, reason: null, by: "a person" }],
    [
      { approved: false, scope: "run", reason: " no ", by: "Ada" },
      { scope: "run", reason: "no", by: "Ada" },
    ],
    [
      { approved: true, scope: "rule", anyArguments: true },
      { scope: "rule", anyArguments: true },
    ],
  ])("answer an approval: %j", async (body, received) => {
    const answer = await post(`/api/v1/approvals/${question}/answer`, body);
    const rule = "scope" in body && body.scope === "rule" ? storedRule : null;
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
      200,
      { outcome: "answered", approval: { id: question }, rule },
    ]);
    const [command = ""] = service.commands;
    expect(command).toMatch(new RegExp(`^answer ${question} `));
    expect(JSON.parse(command.slice(command.indexOf("{")))).toMatchObject(received);
  });

  it.each([
    [{ by: "Ada" }, "drainHost worker-a Ada"],
    [{}, "drainHost worker-a a person"],
  ])("drain a host: %j", async (body, received) => {
    const answer = await post("/api/v1/hosts/worker-a/drain", body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { host: "worker-a", outcome: "requested" }]);
    expect(service.commands).toEqual([received]);
  });

  it("remove a rule", async () => {
    const path = `/api/v1/rules/${ruleId}`;
    const answer = await send(server.port, { method: "DELETE", path, headers: clientHeaders(server.port) });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, storedRule]);
    expect(service.commands).toEqual([`removeRule ${ruleId}`]);
  });
});

describe("entries come in pages of at most 1 MB", () => {
  const pageBytesMax = 1024 * 1024;

  it("which follow each other without a gap", async () => {
    const texts = Array.from({ length: 30 }, (_, index) => JSON.stringify({ index, text: "x".repeat(100_000) }));
    service.entryTexts.set(sessionA, texts);
    const seen: number[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const answer = await get(`/api/v1/runs/${sessionA}/entries?from=${from}&limit=20`);
      expect(answer.text.length).toBeLessThanOrEqual(pageBytesMax);
      const page: { entries: { index: number }[]; next: number | null } = JSON.parse(answer.text);
      seen.push(...page.entries.map(({ index }) => index));
      from = page.next;
    }
    expect(seen).toEqual(texts.map((_, index) => index));
  });

  it("and list the index of an entry that is larger than a page", async () => {
    service.entryTexts.set(sessionA, ['{"index":0}', JSON.stringify("x".repeat(2 * pageBytesMax)), '{"index":2}']);
    const answer = await get(`/api/v1/runs/${sessionA}/entries`);
    expect(JSON.parse(answer.text)).toEqual({ entries: [{ index: 0 }, { index: 2 }], next: null, omitted: [1] });
  });
});

describe("changes come in pages of at most 1 MB", () => {
  const pageBytesMax = 1024 * 1024;

  it.each(["runs", "sessions"])("of %s, which follow each other without a gap", async (whose) => {
    const ids = Array.from({ length: 30 }, (_, i) => i + 1);
    service.changeRows.push(...ids.map((id) => changeRow(id, { diff: "+\u001b".repeat(20_000) })));
    service.changeRows.push(changeRow(31, { session: sessionB, run: sessionB }));
    const seen: number[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const answer = await get(`/api/v1/${whose}/${sessionA}/changes?after=${after}&limit=20`);
      expect(answer.text.length).toBeLessThanOrEqual(pageBytesMax);
      const page: { changes: { id: number }[]; next: number | null } = JSON.parse(answer.text);
      seen.push(...page.changes.map(({ id }) => id));
      after = page.next;
    }
    expect(seen).toEqual(ids);
  });

  it("without the diff of a change that is larger than a page", async () => {
    service.changeRows.push(changeRow(1), changeRow(2, { diff: "x".repeat(2 * pageBytesMax) }), changeRow(3));
    const { changes } = JSON.parse((await get(`/api/v1/runs/${sessionA}/changes`)).text);
    expect(changes).toEqual([changeRow(1), changeRow(2, { diff: "", cut: true }), changeRow(3)]);
  });
});

describe("a mistake gets an error", () => {
  it.each([
    ["an unknown session", `/api/v1/sessions/${unknownId}`, "404 UNKNOWN_SESSION"],
    ["a malformed session id", "/api/v1/sessions/../../etc", "404 USAGE"],
    ["a word as a session id", "/api/v1/sessions/latest", "404 UNKNOWN_SESSION"],
    ["the response of an unknown session", `/api/v1/sessions/${unknownId}/response`, "404 UNKNOWN_SESSION"],
    ["the entries of an unknown run", `/api/v1/runs/${unknownId}/entries`, "404 UNKNOWN_RUN"],
    ["the changes of an unknown run", `/api/v1/runs/${unknownId}/changes`, "404 UNKNOWN_RUN"],
    ["the changes of an unknown session", `/api/v1/sessions/${unknownId}/changes`, "404 UNKNOWN_SESSION"],
    ["changes after a word", `/api/v1/runs/${sessionA}/changes?after=last`, "400 USAGE"],
    ["the grants of an unknown run", `/api/v1/runs/${unknownId}/explain`, "404 UNKNOWN_RUN"],
    ["the grants of a malformed id", "/api/v1/runs/latest/explain", "404 UNKNOWN_RUN"],
    ["an unknown approval", `/api/v1/approvals/${unknownId}`, "404 UNKNOWN_APPROVAL"],
    ["an approval that is a word", "/api/v1/approvals/first", "404 UNKNOWN_APPROVAL"],
    ["approvals in an unknown state", "/api/v1/approvals?state=denied", "400 USAGE"],
    ["no approvals at all", "/api/v1/approvals?limit=0", "400 USAGE"],
    ["more approvals than the most", "/api/v1/approvals?limit=501", "400 USAGE"],
    ["a rule, which can only be removed", `/api/v1/rules/${ruleId}`, "405 USAGE"],
    ["a limit that is not a number", "/api/v1/sessions?limit=many", "400 USAGE"],
    ["a limit beyond the most", "/api/v1/sessions?limit=501", "400 USAGE"],
    ["statistics since a word", "/api/v1/agents/stats?since=lately", "400 USAGE"],
    ["statistics of no time", "/api/v1/agents/stats?since=0", "400 USAGE"],
    ["statistics of more than ten years", "/api/v1/agents/stats?since=4000d", "400 USAGE"],
    ["a negative start", `/api/v1/runs/${sessionA}/entries?from=-1`, "400 USAGE"],
    ["a position that is not a number", "/api/v1/events?after=now", "400 USAGE"],
    ["an unknown path", "/api/v1/nothing", "404 USAGE"],
  ])("%s", async (_, path, expected) => {
    expect(await outcome(path)).toBe(expected);
  });

  it.each([
    ["no task", "{}", "400 USAGE"],
    ["an empty task", '{"task":"  "}', "400 USAGE"],
    ["an invalid agent name", '{"task":"x","agent":"a b"}', "400 USAGE"],
    ["no JSON", "task=x", "400 USAGE"],
    ["nothing", "", "400 USAGE"],
    ["more than 1 MB", JSON.stringify({ task: "x".repeat(1024 * 1024) }), "413 TOO_LARGE"],
  ])("in the body: %s", async (_, body, expected) => {
    const answer = await send(server.port, {
      method: "POST",
      path: "/api/v1/sessions",
      headers: clientHeaders(server.port),
      body,
    });
    expect(`${answer.status} ${errorOf(answer).code}`).toBe(expected);
    expect(service.commands).toEqual([]);
  });

  const runs = `/api/v1/runs/${sessionA}`;
  const answers = `/api/v1/approvals/${question}/answer`;
  const huge = JSON.stringify({ text: "x".repeat(10 * 1024 * 1024), approved: true });
  it.each([
    ["a cancel of an unknown run", "POST", `/api/v1/runs/${unknownId}/cancel`, "{}", "404 UNKNOWN_RUN"],
    ["a message to an unknown run", "POST", `/api/v1/runs/${unknownId}/steer`, '{"text":"x"}', "404 UNKNOWN_RUN"],
    ["a pause of an unknown run", "POST", `/api/v1/runs/${unknownId}/pause`, "{}", "404 UNKNOWN_RUN"],
    ["a resume of an unknown run", "POST", `/api/v1/runs/${unknownId}/resume`, "{}", "404 UNKNOWN_RUN"],
    ["a cancel with a malformed id", "POST", "/api/v1/runs/latest/cancel", "{}", "404 UNKNOWN_RUN"],
    ["a reason that is not a string", "POST", `${runs}/cancel`, '{"reason":7}', "400 USAGE"],
    ["a reason as long as a book", "POST", `${runs}/cancel`, `{"reason":"${"x".repeat(501)}"}`, "400 USAGE"],
    ["an undo of an unknown run", "POST", `/api/v1/runs/${unknownId}/undo`, "{}", "404 UNKNOWN_RUN"],
    ["the undos of an unknown run", "GET", `/api/v1/runs/${unknownId}/undos`, undefined, "404 UNKNOWN_RUN"],
    ["an undo of a negative step", "POST", `${runs}/undo`, '{"step":-1}', "400 USAGE"],
    ["an undo with a misspelt field", "POST", `${runs}/undo`, '{"dryrun":true}', "400 USAGE"],
    ["an empty message", "POST", `${runs}/steer`, '{"text":" \\n"}', "400 USAGE"],
    ["no message", "POST", `${runs}/steer`, "{}", "400 USAGE"],
    ["a message that is too long", "POST", `${runs}/steer`, `{"text":"${"x".repeat(20_001)}"}`, "400 USAGE"],
    ["a message without a sender", "POST", `${runs}/steer`, '{"text":"x","by":" "}', "400 USAGE"],
    ["a message that fills the memory", "POST", `${runs}/steer`, huge, "413 TOO_LARGE"],
    ["a pause without a sender", "POST", `${runs}/pause`, '{"by":""}', "400 USAGE"],
    ["a pause by a list", "POST", `${runs}/pause`, '["by"]', "400 USAGE"],
    ["a resume that is not JSON", "POST", `${runs}/resume`, "by=me", "400 USAGE"],
    [
      "an answer to an unknown approval",
      "POST",
      `/api/v1/approvals/${unknownId}/answer`,
      '{"approved":true}',
      "404 UNKNOWN_APPROVAL",
    ],
    [
      "an answer with a malformed id",
      "POST",
      "/api/v1/approvals/1/answer",
      '{"approved":true}',
      "404 UNKNOWN_APPROVAL",
    ],
    ["an answer that says nothing", "POST", answers, "{}", "400 USAGE"],
    ["an answer that is not a boolean", "POST", answers, '{"approved":"yes"}', "400 USAGE"],
    ["an answer with an unknown field", "POST", answers, '{"approved":true,"always":true}', "400 USAGE"],
    ["an answer with an unknown scope", "POST", answers, '{"approved":true,"scope":"ever"}', "400 USAGE"],
    ["any arguments without a rule", "POST", answers, '{"approved":true,"anyArguments":true}', "400 USAGE"],
    ["an answer that fills the memory", "POST", answers, huge, "413 TOO_LARGE"],
    ["a drain of an unknown host", "POST", "/api/v1/hosts/worker-z/drain", "{}", "404 UNKNOWN_HOST"],
    ["a drain with an invalid host name", "POST", "/api/v1/hosts/a%20b/drain", "{}", "404 UNKNOWN_HOST"],
    ["a drain without a sender", "POST", "/api/v1/hosts/worker-a/drain", '{"by":" "}', "400 USAGE"],
    ["a drain of all hosts", "POST", "/api/v1/hosts/drain", "{}", "404 USAGE"],
    ["a delete of an unknown rule", "DELETE", `/api/v1/rules/${unknownId}`, undefined, "404 UNKNOWN_RULE"],
    ["a delete of all rules", "DELETE", "/api/v1/rules", undefined, "405 USAGE"],
    ["a delete of a run", "DELETE", runs, undefined, "404 USAGE"],
  ])("in a command: %s", async (_, method, path, body, expected) => {
    const command = { method, path, headers: clientHeaders(server.port), ...(body === undefined ? {} : { body }) };
    const answer = await send(server.port, command);
    expect(`${answer.status} ${errorOf(answer).code}`).toBe(expected);
    expect(service.commands).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("in a body that does not announce its length", async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(256 * 1024).fill(32)),
    });
    const { Host: _, ...headers } = clientHeaders(server.port);
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const answer = await fetch(`${server.url}/api/v1/sessions`, init);
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "TOO_LARGE" } }]);
  });

  it("with the value and the next step", async () => {
    const error = errorOf(await get("/api/v1/sessions?limit=many"));
    expect(error).toEqual({ code: "USAGE", message: 'limit is "many"', fix: "use a whole number from 1 to 500" });
  });
});

describe("a failure of the service", () => {
  it.each([
    ["UNKNOWN_AGENT", 400],
    ["UNKNOWN_SCENARIO", 400],
    ["UNKNOWN_SESSION", 404],
    ["UNKNOWN_RUN", 404],
    ["UNKNOWN_APPROVAL", 404],
    ["UNKNOWN_RULE", 404],
    ["INVALID_POLICY", 500],
    ["LIMIT_REACHED", 429],
    ["NO_PROVIDER", 409],
    ["DATABASE_DAMAGED", 500],
    ["UNREACHABLE", 503],
  ] as const)("%s is passed on with status %d", async (code, status) => {
    const answer = await failWith(new TroupeError(code, "the reason", { fix: "do this" }));
    expect([answer.status, errorOf(answer)]).toEqual([status, { code, message: "the reason", fix: "do this" }]);
  });

  it("that is unexpected gets no details in its reply, and is reported", async () => {
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
  const answer = await get("/api/v1/status");
  service.status = status;
  return answer;
}

function get(path: string): Promise<WireResponse> {
  return send(server.port, { path, headers: clientHeaders(server.port) });
}

function post(path: string, body: unknown): Promise<WireResponse> {
  return send(server.port, { method: "POST", path, headers: clientHeaders(server.port), body: JSON.stringify(body) });
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
