import { Hono } from "hono";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpApp } from "./app.ts";
import { createAuth, loginPaths } from "./auth.ts";
import type { HttpEnv } from "./input.ts";
import { listRoutes } from "./routes.fixture.ts";
import type { HttpServer } from "./serve.ts";
import { createFakeService, serveFake, token } from "./service.fixture.ts";
import { clientHeaders, errorOf, send, type WireResponse } from "./wire.fixture.ts";

// S7: a loopback port is open to every program and every user of the machine. No route but the login and the static
// shell answers without the token.

const service = createFakeService();
let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(service);
});
afterAll(() => server.close());
beforeEach(() => {
  service.commands.length = 0;
});

const routes = listRoutes().filter(({ path }) => !loginPaths.includes(path));

/** Routes that no earlier version had. */
const newRoutes = [
  "DELETE /api/v1/webhooks/:id",
  "GET /api/v1/openapi.json",
  "GET /api/v1/webhooks",
  "POST /api/v1/webhooks",
  "POST /api/v1/webhooks/:id/resend",
  "POST /api/v1/webhooks/:id/test",
];

const proofs: [name: string, headers: Record<string, string>][] = [
  ["no proof", {}],
  ["an empty token", { Authorization: "Bearer " }],
  ["another token", { Authorization: `Bearer ${"x".repeat(token.length)}` }],
  ["the token with more behind it", { Authorization: `Bearer ${token}x` }],
  ["the beginning of the token", { Authorization: `Bearer ${token.slice(0, -1)}` }],
  ["the token under another scheme", { Authorization: `Basic ${token}` }],
  ["the token as the cookie", { Cookie: `troupe_PORT=${token}` }],
  ["an empty cookie", { Cookie: "troupe_PORT=" }],
  ["a made-up cookie", { Cookie: "troupe_PORT=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
];

describe("every route of the router", () => {
  it("is covered by these tests, with its alias of earlier versions", () => {
    const found = routes.map(({ method, path }) => `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ":id")}`).sort();
    expect(found.filter((route) => !route.includes("/v1/"))).toEqual(
      found
        .filter((route) => route.includes("/v1/") && !newRoutes.includes(route))
        .map((route) => route.replace("/v1", "")),
    );
    expect(found.filter((route) => route.includes("/v1/"))).toEqual([
      "DELETE /api/v1/agent-files/:id",
      "DELETE /api/v1/rules/:id",
      "DELETE /api/v1/webhooks/:id",
      "GET /api/v1/agent-files",
      "GET /api/v1/agent-files/:id",
      "GET /api/v1/agents",
      "GET /api/v1/agents/stats",
      "GET /api/v1/approvals",
      "GET /api/v1/approvals/:id",
      "GET /api/v1/costs",
      "GET /api/v1/events",
      "GET /api/v1/hosts",
      "GET /api/v1/ids/:id",
      "GET /api/v1/openapi.json",
      "GET /api/v1/rules",
      "GET /api/v1/runs/:id/ancestors",
      "GET /api/v1/runs/:id/changes",
      "GET /api/v1/runs/:id/children",
      "GET /api/v1/runs/:id/conversation",
      "GET /api/v1/runs/:id/entries",
      "GET /api/v1/runs/:id/explain",
      "GET /api/v1/runs/:id/timeline",
      "GET /api/v1/runs/:id/undos",
      "GET /api/v1/search",
      "GET /api/v1/sessions",
      "GET /api/v1/sessions/:id",
      "GET /api/v1/sessions/:id/changes",
      "GET /api/v1/sessions/:id/files",
      "GET /api/v1/sessions/:id/files/content",
      "GET /api/v1/sessions/:id/response",
      "GET /api/v1/sessions/:id/timeline",
      "GET /api/v1/sessions/:id/tree",
      "GET /api/v1/stats",
      "GET /api/v1/status",
      "GET /api/v1/teams",
      "GET /api/v1/webhooks",
      "POST /api/v1/agent-checks",
      "POST /api/v1/approvals/:id/answer",
      "POST /api/v1/hosts/:id/drain",
      "POST /api/v1/runs/:id/cancel",
      "POST /api/v1/runs/:id/pause",
      "POST /api/v1/runs/:id/resume",
      "POST /api/v1/runs/:id/steer",
      "POST /api/v1/runs/:id/undo",
      "POST /api/v1/session-imports",
      "POST /api/v1/session-removals",
      "POST /api/v1/sessions",
      "POST /api/v1/sessions/:id/cancel",
      "POST /api/v1/sessions/:id/fork",
      "POST /api/v1/webhooks",
      "POST /api/v1/webhooks/:id/resend",
      "POST /api/v1/webhooks/:id/test",
      "PUT /api/v1/agent-files/:id",
      "PUT /api/v1/sessions/:id/files",
    ]);
  });

  it.each(proofs)("answers 401 to %s", async (_, proof) => {
    for (const { method, path } of [
      ...routes,
      { method: "GET", path: "/api/v1/unheard-of" },
      { method: "GET", path: "/api/v1/login" },
    ]) {
      const answer = await ask(method, path, proof);
      expect(`${method} ${path} ${answer.status} ${errorOf(answer).code}`).toBe(`${method} ${path} 401 UNAUTHORIZED`);
    }
    expect(service.commands).toEqual([]);
  });

  it("cannot be reached by another spelling of its path", async () => {
    for (const path of [
      "//api/v1/status",
      "/api/v1//status",
      "/./api/v1/status",
      "/x/../api/v1/status",
      "/%61pi/status",
      "/API/status",
    ]) {
      const answer = await ask("GET", path, {});
      expect(`${path} ${answer.status} ${answer.text.includes("startedAt")}`).toMatch(/ (401|404) false$/);
    }
  });
});

it("lets a login in at the path of earlier versions", async () => {
  const answer = await ask("POST", loginPaths[1] ?? "", {}, JSON.stringify({ token }));
  expect([answer.status, answer.headers.deprecation]).toEqual([204, "@1795132800"]);
});

it("closes a route that is added later, at any path", async () => {
  const assets = { find: async () => null, shell: () => Promise.reject(new Error("no shell")) };
  const app = createHttpApp({ service, token, port: 1, assets, heartbeatMs: 1_000, streams: new Set(), onError() {} });
  app.get("/metrics", (context) => context.text("secret"));
  app.get("/debug/*", (context) => context.text("secret"));
  const answers = [await app.request("/metrics"), await app.request("/debug/heap")];
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
});

describe("the login", () => {
  it("trades the token for a cookie that no script can read and no other site can use", async () => {
    const answer = await logIn(token);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    const [cookie = ""] = answer.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(new RegExp(`^troupe_${server.port}=[\\w-]{43}; `));
    expect(cookie.split("; ").slice(1).sort()).toEqual(["HttpOnly", "Path=/", "SameSite=Strict"]);
    expect(cookie).not.toContain(token);
    expect((await ask("GET", "/api/v1/status", { Cookie: cookie.split(";")[0] ?? "" })).status).toBe(200);
  });

  it("sets no cookie for a wrong token", async () => {
    const answer = await logIn(`${token}x`);
    expect([answer.status, errorOf(answer).code, answer.headers["set-cookie"]]).toEqual([
      401,
      "UNAUTHORIZED",
      undefined,
    ]);
  });

  it("accepts only a short body", async () => {
    const answer = await logIn(`${token}${"x".repeat(4_096)}`);
    expect([answer.status, errorOf(answer).code]).toEqual([413, "TOO_LARGE"]);
  });

  it("refuses more than ten wrong tokens at once, and still lets the right one in", async () => {
    const own = await serveFake(service);
    try {
      const statusOf = async (given: string) => (await logIn(given, own.port)).status;
      const statuses: number[] = [];
      for (let time = 0; time < 12; time += 1) statuses.push(await statusOf(`wrong${time}`));
      expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
      expect(statuses.at(-1)).toBe(429);
      const refused = await logIn("wrong", own.port);
      expect(errorOf(refused)).toMatchObject({ code: "LIMIT_REACHED", fix: expect.stringContaining("6 seconds") });
      expect(await statusOf(token)).toBe(204);
    } finally {
      await own.close();
    }
  });

  it("sets a cookie that another daemon refuses", async () => {
    const other = await serveFake(service);
    try {
      const cookie = (await logIn(token)).headers["set-cookie"]?.[0]?.split(";")[0]?.split("=")[1];
      const headers = { Host: `127.0.0.1:${other.port}`, Cookie: `troupe_${other.port}=${cookie}` };
      expect((await send(other.port, { path: "/api/v1/status", headers })).status).toBe(401);
    } finally {
      await other.close();
    }
  });

  it("sets a cookie that survives a restart, but not a new token", async () => {
    const login = await createApp(token).request("/open");
    const headers = { Cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "" };
    expect((await createApp(token).request("/api/v1/status", { headers })).status).toBe(200);
    expect((await createApp(`${token}2`).request("/api/v1/status", { headers })).status).toBe(401);
  });
});

/** A fresh server, as another process would start it. */
function createApp(token: string): Hono<HttpEnv> {
  const auth = createAuth(token, 1);
  const door = new Hono<HttpEnv>();
  door.onError((_, context) => context.text("refused", 401));
  door.get("/open", (context) => {
    auth.logIn(context, token);
    return context.text("open");
  });
  door.use("/api/v1/*", auth.middleware);
  door.get("/api/v1/status", (context) => context.text("status"));
  return door;
}

function logIn(given: string, port = server.port): Promise<WireResponse> {
  return ask("POST", loginPaths[0] ?? "", {}, JSON.stringify({ token: given }), port);
}

function ask(
  method: string,
  path: string,
  proof: Record<string, string>,
  body = "{}",
  port = server.port,
): Promise<WireResponse> {
  const { Authorization: _, ...headers } = clientHeaders(port);
  for (const [name, value] of Object.entries(proof)) headers[name] = value.replace("PORT", String(port));
  return send(port, { method, path, headers, ...(method === "POST" ? { body } : {}) });
}
