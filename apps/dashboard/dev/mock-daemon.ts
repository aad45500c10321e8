import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalAnswer, DaemonStatus } from "@troupe/core";
import type { GrantDecision, GrantExplanation } from "@troupe/core/internal";
import { changesOf } from "./changes.ts";
import { mockHosts } from "./hosts.ts";
import { Play } from "./play.ts";

/**
 * Stands in for the daemon while the page is worked on: serves `dist` under the daemon's content policy, with made-up
 * sessions. Never part of the product.
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

export function createMock(play: Play): Server {
  return createServer((request, response) => {
    answer(play, request, response).catch((thrown) => fail(response, 500, String(thrown)));
  });
}

async function answer(play: Play, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://mock");
  if (!pathname.startsWith("/api/")) return sendFile(pathname, response);
  const route = `${request.method} ${pathname}`;
  if (route === "POST /api/login") {
    if ((await body(request)).token !== token) return fail(response, 401, "The token is not the one of this daemon");
    response.writeHead(204, { "set-cookie": "troupe=1; HttpOnly; SameSite=Strict; Path=/" }).end();
    return;
  }
  if (!request.headers.cookie?.includes("troupe=1")) return fail(response, 401, "No session cookie");
  if (await answerDelegation(play, request, response)) return;
  const session = /^\/api\/sessions\/([^/]+)/.exec(pathname)?.[1] ?? "";
  if (route === "GET /api/status") return send(response, 200, status);
  if (route === "GET /api/hosts") return send(response, 200, { hosts: mockHosts(Number(process.env.HOSTS ?? 8)) });
  if (/^POST .api.hosts.[^/]+.drain$/.test(route)) {
    return send(response, 200, { host: pathname.split("/")[3], outcome: "requested" });
  }
  if (route === "GET /api/agents") {
    return send(response, 200, {
      agents: [
        { id: "main", name: "main" },
        { id: "coder", name: "Coder" },
      ],
      problems: [],
    });
  }
  if (route === "GET /api/sessions")
    return send(response, 200, { position: play.position, sessions: [...play.sessions.values()] });
  if (route === "POST /api/sessions") return send(response, 201, play.submit(String((await body(request)).task)));
  if (route === "GET /api/events") return stream(play, response, Number(searchParams.get("after")));
  if (route === `POST /api/sessions/${session}/cancel`) {
    play.cancel(session);
    return send(response, 200, { session, outcome: "requested", status: "running" });
  }
  const detail = play.detail(session);
  return detail ? send(response, 200, detail) : fail(response, 404, `No session ${session}`);
}

/** What steers runs and answers approvals. */
async function answerDelegation(play: Play, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://mock");
  const [, , noun, id = "", verb = ""] = pathname.split("/");
  const reply = (value: unknown): true => {
    if (value === null || value === undefined) fail(response, 404, `No ${noun} ${id}`);
    else send(response, 200, value);
    return true;
  };
  if (noun === "approvals" && request.method === "GET") {
    const all = searchParams.get("state") === "all" ? [...play.approvals.values()] : play.waiting();
    return reply({ position: play.position, approvals: all });
  }
  if (noun === "approvals") return reply(play.answer(id, withDefaults(await body(request))));
  if (noun === "rules" && request.method === "GET") return reply({ rules: [...play.rules.values()] });
  if (noun === "rules") {
    const rule = play.rules.get(id);
    play.rules.delete(id);
    return reply(rule);
  }
  if (noun !== "runs") return false;
  if (verb === "changes")
    return reply(play.runs.has(id) ? { changes: changesOf(play.runs.get(id)), next: null } : null);
  if (verb === "explain") return reply(explanationOf(play, id));
  if (verb === "cancel") return reply(play.control(id, { ...ended(), status: "cancelled", exactStatus: "cancelled" }));
  if (verb === "pause") return reply(play.control(id, { exactStatus: "paused" }));
  if (verb === "resume") return reply(play.control(id, { exactStatus: "running" }));
  return reply(play.control(id, { activity: `was told: ${(await body(request)).text}` }));
}

function withDefaults(given: Partial<ApprovalAnswer>): ApprovalAnswer {
  return { approved: false, scope: "once", anyArguments: false, reason: null, by: "a person", ...given };
}

function ended(): { completedAt: string; durationMs: number } {
  return { completedAt: new Date().toISOString(), durationMs: 1_000 };
}

function explanationOf(play: Play, id: string): GrantExplanation | null {
  const run = play.runs.get(id);
  if (!run) return null;
  const verdict = (kind: "tool" | "agent", name: string, removedBy: string | null, reason: string): GrantDecision => {
    return { kind, name, granted: removedBy === null, removedBy, reason };
  };
  return {
    run: id,
    session: run.session,
    agent: run.agent,
    layers: ["policy", "session", "main", run.agent],
    verdicts: [
      verdict("tool", "read", null, "every layer lets it through"),
      verdict("tool", "write", null, "every layer lets it through"),
      verdict("tool", "shell", "session", "denied by the session's grant"),
      verdict("tool", "web_fetch", "policy", "not among the tools of this machine's policy"),
      verdict("tool", "mcp__github__create_pull_request", run.agent, `not among the tools of the agent ${run.agent}`),
      verdict("agent", "tester", null, "every layer lets it through"),
      verdict("agent", "main", "main", "denied by the agent main"),
    ],
  };
}

function stream(play: Play, response: ServerResponse, after: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" }).write(": hello\n\n");
  // It keeps no history: who missed something loads everything anew.
  if (after < play.position) response.write("event: resync\ndata: {}\n\n");
  const listener = (kind: string, data: object): void => {
    const id = "position" in data ? `id: ${data.position}\n` : "";
    response.write(`event: ${kind}\n${id}data: ${JSON.stringify(data)}\n\n`);
  };
  play.listeners.add(listener);
  response.on("close", () => play.listeners.delete(listener));
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
  const server = createMock(new Play()).listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}/#token=${token}\n`);
  });
}
