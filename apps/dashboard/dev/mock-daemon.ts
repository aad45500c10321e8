import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalAnswer, DaemonStatus } from "@troupe/core";
import type { GrantDecision, GrantExplanation } from "@troupe/core/internal";
import { mockChanges } from "./mock-changes.ts";
import { mockConversation } from "./mock-conversation.ts";
import { mockHosts } from "./mock-hosts.ts";
import { MockSessions } from "./mock-sessions.ts";

/**
 * A mock of the daemon for work on the page. It serves `dist` with the content security policy of the daemon and creates
 * mock sessions. Packages do not contain it.
 *
 *     HOSTS=8 node apps/dashboard/dev/mock-daemon.ts [port]
 */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'";
const token = "mock";
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const types: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const status: DaemonStatus = {
  version: "0.1.0",
  pid: process.pid,
  home: "/home/you/.troupe",
  kind: "daemon",
  bus: "in process",
  store: "sqlite",
  provider: "demo (scripted, offline)",
  demo: true,
  agents: 8,
  startedAt: new Date().toISOString(),
};

export function createMock(sessions: MockSessions): Server {
  return createServer((request, response) => {
    answer(sessions, request, response).catch((thrown) => fail(response, 500, String(thrown)));
  });
}

async function answer(sessions: MockSessions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://mock");
  if (!pathname.startsWith("/api/v1/")) return sendFile(pathname, response);
  const route = `${request.method} ${pathname}`;
  if (route === "POST /api/v1/login") {
    if ((await body(request)).token !== token) return fail(response, 401, "The token is wrong");
    response.writeHead(204, { "set-cookie": "troupe=1; HttpOnly; SameSite=Strict; Path=/" }).end();
    return;
  }
  if (!request.headers.cookie?.includes("troupe=1")) return fail(response, 401, "No session cookie");
  if (await answerDelegation(sessions, request, response)) return;
  const session = /^\/api\/sessions\/([^/]+)/.exec(pathname)?.[1] ?? "";
  if (route === "GET /api/v1/status") return send(response, 200, status);
  if (route === "GET /api/v1/hosts") return send(response, 200, { hosts: mockHosts(Number(process.env.HOSTS ?? 8)) });
  if (/^POST .api.hosts.[^/]+.drain$/.test(route)) {
    return send(response, 200, { host: pathname.split("/")[3], outcome: "requested" });
  }
  if (route === "GET /api/v1/agents") {
    return send(response, 200, {
      agents: [
        { id: "main", name: "main" },
        { id: "coder", name: "Coder" },
      ],
      problems: [],
    });
  }
  if (route === "GET /api/v1/sessions")
    return send(response, 200, { position: sessions.position, sessions: [...sessions.sessions.values()] });
  if (route === "POST /api/v1/sessions")
    return send(response, 201, sessions.submit(String((await body(request)).task)));
  if (route === "GET /api/v1/events") return stream(sessions, response, Number(searchParams.get("after")));
  if (route === `POST /api/v1/sessions/${session}/cancel`) {
    sessions.cancel(session);
    return send(response, 200, { session, outcome: "requested", status: "running" });
  }
  const detail = sessions.detail(session);
  return detail ? send(response, 200, detail) : fail(response, 404, `No session ${session}`);
}

/** Routes of runs, approvals and rules. */
async function answerDelegation(
  sessions: MockSessions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://mock");
  const [, , noun, id = "", verb = ""] = pathname.split("/");
  const reply = (value: unknown): true => {
    if (value === null || value === undefined) fail(response, 404, `No ${noun} ${id}`);
    else send(response, 200, value);
    return true;
  };
  if (noun === "approvals" && request.method === "GET") {
    const all = searchParams.get("state") === "all" ? [...sessions.approvals.values()] : sessions.waiting();
    return reply({ position: sessions.position, approvals: all });
  }
  if (noun === "approvals") return reply(sessions.answer(id, withDefaults(await body(request))));
  if (noun === "rules" && request.method === "GET") return reply({ rules: [...sessions.rules.values()] });
  if (noun === "rules") {
    const rule = sessions.rules.get(id);
    sessions.rules.delete(id);
    return reply(rule);
  }
  if (noun !== "runs") return false;
  if (verb === "changes")
    return reply(sessions.runs.has(id) ? { changes: mockChanges(sessions.runs.get(id)), next: null } : null);
  if (verb === "conversation") return reply(mockConversation(sessions.runs.get(id), Number(searchParams.get("from"))));
  if (verb === "explain") return reply(explanationOf(sessions, id));
  if (verb === "cancel")
    return reply(sessions.control(id, { ...ended(), status: "cancelled", exactStatus: "cancelled" }));
  if (verb === "pause") return reply(sessions.control(id, { exactStatus: "paused" }));
  if (verb === "resume") return reply(sessions.control(id, { exactStatus: "running" }));
  return reply(sessions.control(id, { activity: `received: ${(await body(request)).text}` }));
}

function withDefaults(given: Partial<ApprovalAnswer>): ApprovalAnswer {
  return { approved: false, scope: "once", anyArguments: false, reason: null, by: "a person", ...given };
}

function ended(): { completedAt: string; durationMs: number } {
  return { completedAt: new Date().toISOString(), durationMs: 1_000 };
}

function explanationOf(sessions: MockSessions, id: string): GrantExplanation | null {
  const run = sessions.runs.get(id);
  if (!run) return null;
  const decision = (kind: "tool" | "agent", name: string, removedBy: string | null, reason: string): GrantDecision => {
    return { kind, name, granted: removedBy === null, removedBy, reason };
  };
  return {
    run: id,
    session: run.session,
    agent: run.agent,
    layers: ["policy", "session", "main", run.agent],
    verdicts: [
      decision("tool", "read", null, "every layer lets it through"),
      decision("tool", "write", null, "every layer lets it through"),
      decision("tool", "shell", "session", "denied by the session's grant"),
      decision("tool", "web_fetch", "policy", "not among the tools of this machine's policy"),
      decision("tool", "mcp__github__create_pull_request", run.agent, `not among the tools of the agent ${run.agent}`),
      decision("agent", "tester", null, "every layer lets it through"),
      decision("agent", "main", "main", "denied by the agent main"),
    ],
  };
}

function stream(sessions: MockSessions, response: ServerResponse, after: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" }).write(": hello\n\n");
  // The mock has no history, so a page behind the position must reload.
  if (after < sessions.position) response.write("event: resync\ndata: {}\n\n");
  const listener = (kind: string, data: object): void => {
    const id = "position" in data ? `id: ${data.position}\n` : "";
    response.write(`event: ${kind}\n${id}data: ${JSON.stringify(data)}\n\n`);
  };
  sessions.listeners.add(listener);
  response.on("close", () => sessions.listeners.delete(listener));
}

async function sendFile(pathname: string, response: ServerResponse): Promise<void> {
  const path = pathname === "/" ? "index.html" : pathname.slice(1);
  try {
    const content = await readFile(join(dist, path));
    response
      .writeHead(200, {
        "content-type": types[extname(path)] ?? "application/octet-stream",
        "content-security-policy": policy,
      })
      .end(content);
  } catch {
    response.writeHead(404).end();
  }
}

async function body(
  request: IncomingMessage,
): Promise<Partial<ApprovalAnswer> & { token?: string; task?: string; text?: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function send(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function fail(response: ServerResponse, code: number, message: string): void {
  send(response, code, { error: { code: "MOCK", message, fix: "Look at what troupe up printed" } });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = createMock(new MockSessions()).listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}/#token=${token}\n`);
  });
}
