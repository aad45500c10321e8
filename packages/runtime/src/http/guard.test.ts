import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listRoutes, type RoutePath } from "./routes.fixture.ts";
import type { HttpServer } from "./serve.ts";
import { createFakeService, serveFake } from "./service.fixture.ts";
import { clientHeaders, errorOf, send } from "./wire.fixture.ts";

// S6: any web page in the user's browser can send requests to a loopback port. Even with the right token, requests from
// other pages are refused on every path, before routing.

const service = createFakeService();
let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(service);
});
afterAll(() => server.close());
beforeEach(() => {
  service.commands.length = 0;
});

/** Every route of the router, the login, and paths outside of the API. */
const targets: RoutePath[] = [
  ...listRoutes(),
  { method: "GET", path: "/" },
  { method: "GET", path: "/index.html" },
  { method: "GET", path: "/assets/app-12345678.js" },
  { method: "GET", path: "/sessions/deep/link" },
  { method: "HEAD", path: "/api/v1/status" },
  { method: "OPTIONS", path: "/api/v1/sessions" },
  { method: "DELETE", path: "/api/v1/sessions" },
  { method: "GET", path: "/api/v1/unheard-of" },
];

/** Changes to an clientHeaders request. `PORT` is replaced by the server's port; null removes a header. */
const forgeries: [name: string, headers: Record<string, string | string[] | null>][] = [
  ["a rebound name", { Host: "evil.example:PORT" }],
  ["a rebound name that looks local", { Host: "localhost.evil.example:PORT" }],
  ["a name with our address in it", { Host: "127.0.0.1:PORT@evil.example" }],
  ["another port", { Host: "127.0.0.1:1" }],
  ["no port", { Host: "127.0.0.1" }],
  ["another loopback address", { Host: "127.0.0.2:PORT" }],
  ["the address of all", { Host: "0.0.0.0:PORT" }],
  ["an address in decimal", { Host: "2130706433:PORT" }],
  ["a trailing dot", { Host: "localhost.:PORT" }],
  ["capitals", { Host: "LOCALHOST:PORT" }],
  ["an empty host", { Host: "" }],
  ["no host", { Host: null }],
  ["two hosts, ours first", { Host: ["127.0.0.1:PORT", "evil.example"] }],
  ["a foreign origin", { Origin: "https://evil.example" }],
  ["an opaque origin", { Origin: "null" }],
  ["an origin on another port", { Origin: "http://127.0.0.1:1" }],
  ["an origin under our other name", { Origin: "http://localhost:PORT" }],
  ["our origin over TLS", { Origin: "https://127.0.0.1:PORT" }],
  ["an origin that begins like ours", { Origin: "http://127.0.0.1:PORT.evil.example" }],
  ["two origins, ours first", { Origin: ["http://127.0.0.1:PORT", "https://evil.example"] }],
  ["a cross-site request", { "Sec-Fetch-Site": "cross-site" }],
  ["a request from another port of this machine", { "Sec-Fetch-Site": "same-site" }],
  ["a cross-site request that may not be read", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
  ["an upgrade to a socket", { Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13" }],
  ["an upgrade from elsewhere", { Connection: "Upgrade", Upgrade: "websocket", Origin: "https://evil.example" }],
];

describe("a forged request", () => {
  it.each(forgeries)("is refused on every path: %s", async (_, headers) => {
    const answers = await Promise.all(targets.map((target) => forge(target, headers)));
    expect(answers).toEqual(targets.map(({ method, path }) => `${method} ${path} 403 FORBIDDEN`));
    expect(service.commands).toEqual([]);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    null,
  ])("is refused as a form can send it: %s", async (type) => {
    const posts = targets.filter(({ method }) => method !== "GET" && method !== "HEAD");
    const answers = await Promise.all(posts.map((target) => forge(target, { "Content-Type": type })));
    expect(answers).toEqual(posts.map(({ method, path }) => `${method} ${path} 403 FORBIDDEN`));
    expect(service.commands).toEqual([]);
  });

  it("is refused when its target is a whole address", async () => {
    expect(await forge({ method: "GET", path: "http://evil.example/api/v1/status" }, {})).toMatch(/403 FORBIDDEN$/);
  });
});

describe("an clientHeaders request", () => {
  it.each([
    ["by address", { Host: "127.0.0.1:PORT" }],
    ["by name", { Host: "localhost:PORT" }],
    ["by IPv6 address", { Host: "[::1]:PORT" }],
    ["from our own page", { Origin: "http://127.0.0.1:PORT", "Sec-Fetch-Site": "same-origin" }],
    ["typed into the address bar", { "Sec-Fetch-Site": "none" }],
    ["with a charset", { "Content-Type": "application/json; charset=utf-8" }],
  ])("passes %s", async (_, headers) => {
    const body = '{"task":"x"}';
    const answer = await send(server.port, {
      method: "POST",
      path: "/api/v1/sessions",
      headers: merged(headers),
      body,
    });
    expect(answer.status).toBe(201);
  });
});

it("sends its security headers with every answer, and never one that opens it to others", async () => {
  const refused = { path: "/api/v1/status", headers: { ...clientHeaders(server.port), Host: "evil.example" } };
  const shown = { path: "/", headers: clientHeaders(server.port) };
  const answers = [await send(server.port, refused), await send(server.port, shown)];
  for (const target of targets) {
    answers.push(await send(server.port, { ...target, headers: { Host: `127.0.0.1:${server.port}` } }));
  }
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});

async function forge({ method, path }: RoutePath, headers: Record<string, string | string[] | null>): Promise<string> {
  const body = method === "POST" ? '{"task":"x","token":"x"}' : undefined;
  const answer = await send(server.port, { method, path, headers: merged(headers), ...(body ? { body } : {}) });
  const code = method === "HEAD" ? "FORBIDDEN" : errorOf(answer).code;
  return `${method} ${path} ${answer.status} ${code}`;
}

function merged(headers: Record<string, string | string[] | null>): Record<string, string | string[]> {
  const withPort = (value: string): string => value.replace("PORT", String(server.port));
  const given = Object.entries({ ...clientHeaders(server.port), ...headers }).flatMap(([name, value]) =>
    value === null ? [] : [[name, Array.isArray(value) ? value.map(withPort) : withPort(value)] as const],
  );
  return Object.fromEntries(given);
}
