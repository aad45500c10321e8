import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { apiRoutes } from "./contract/api-routes.ts";
import { methodsOf } from "./contract/methods.ts";
import { paramKinds } from "./contract/param-kinds.ts";
import type { RouteContract } from "./contract/route.ts";
import { statuses } from "./errors.ts";
import { bodyBytesMaxDefault } from "./input.ts";
import type { HttpServer } from "./serve.ts";
import { createFakeService, serveFake, unknownId } from "./service.fixture.ts";
import { clientHeaders, send, type WireResponse } from "./wire.fixture.ts";

// Every kind of bad input, on every route of the table: a new route is tested as soon as it is described.

const service = createFakeService();
const failures: unknown[] = [];
let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(service, { onError: (error) => failures.push(error) });
});
afterAll(() => server.close());
beforeEach(() => {
  service.commands.length = 0;
  failures.length = 0;
});

interface Route extends RouteContract {
  key: string;
  method: string;
  /** With a valid value for each parameter. */
  path: string;
}

const routes: Route[] = Object.entries(apiRoutes as Record<string, RouteContract>).map(([key, contract]) => {
  const [method = "", path = ""] = key.split(" ");
  return { ...contract, key, method, path: `/api/v1${path.replaceAll(/\{\w+\}/g, unknownId)}` };
});
const withParams = routes.filter(({ params }) => params !== undefined);
const withQuery = routes.flatMap((route) =>
  Object.entries(route.query?.shape ?? {}).map(([name, schema]) => ({ ...route, name, schema: schema as z.ZodType })),
);
const withBody = routes.filter(({ body }) => body !== undefined);

describe("bad input to every route:", () => {
  it.each(routes)("no token to $key", async (route) => {
    if (route.open) return expect((await ask(route, { body: '{"token":"wrong"}' })).status).toBe(401);
    const { Authorization: _, ...headers } = clientHeaders(server.port);
    expectError(await ask(route, { headers }), 401, "UNAUTHORIZED");
  });

  it.each(routes)("another content type to $key", async (route) => {
    const headers = { ...clientHeaders(server.port), "Content-Type": "text/plain" };
    const method = route.method === "GET" ? "PATCH" : route.method;
    expectError(await ask({ ...route, method }, { headers }), 403, "FORBIDDEN");
  });

  it.each(routes)("another method to the path of $key", async (route) => {
    const methods = methodsOf(route.path);
    const method = ["POST", "PUT", "DELETE", "PATCH"].find((one) => !methods.includes(one)) ?? "";
    const reply = await ask({ ...route, method }, {});
    expectError(reply, 405, "USAGE");
    expect(reply.headers.allow).toBe(methods.join(", "));
  });

  it.each(routes)("an unknown name in the query of $key", async (route) => {
    expectError(await ask(route, { query: "?colour=red" }), 400, "USAGE", "colour");
  });

  it.each(withParams)("parameters that are malformed or too long in $key", async (route) => {
    const code = paramKinds[Object.values(route.params ?? {})[0] ?? "session"].code;
    const status = statuses[code];
    for (const value of ["%00", "a%20b", "x".repeat(1_000), "%F0%9F%8E%AD", "%1B%5B2J"]) {
      expectError(await ask({ ...route, path: route.path.replace(unknownId, value) }, {}), status, code);
    }
  });

  it.each(withQuery)("a wrong or repeated $name in the query of $key", async (route) => {
    const path = route;
    expectError(await ask(path, { query: `?${route.name}=a&${route.name}=b` }), 400, "USAGE", route.name);
    const { type, enum: choices } = z.toJSONSchema(route.schema, { io: "input", unrepresentable: "any" });
    const wrong = type === "integer" ? ["many", "-1", "1.5", "99999999999999999999", ""] : choices ? ["red"] : [];
    for (const value of wrong) {
      expectError(await ask(path, { query: `?${route.name}=${value}` }), 400, "USAGE", JSON.stringify(value));
    }
  });

  it.each(withBody)("a body to $key that is not JSON, or not an object", async (route) => {
    for (const body of ["task=x", "{", "7", '"text"', "[]", "null"]) {
      expectError(await ask(route, { body }), 400, "USAGE");
    }
  });

  it.each(withBody)("wrong types in the body of $key", async (route) => {
    const { properties = {} } = z.toJSONSchema(route.body as z.ZodType, { io: "input", unrepresentable: "any" });
    const body = JSON.stringify(Object.fromEntries(Object.keys(properties).map((name) => [name, [{}]])));
    expectError(await ask(route, { body }), 400, "USAGE");
  });

  it.each(withBody)("too large a body to $key", async (route) => {
    const body = JSON.stringify({ text: "x".repeat(route.bodyBytesMax ?? bodyBytesMaxDefault) });
    expectError(await ask(route, { body }), 413, "TOO_LARGE");
  });
});

describe("a path of earlier versions", () => {
  it("answers like the new one, and says that it is deprecated", async () => {
    const [old, now] = [await get("/api/sessions?limit=5"), await get("/api/v1/sessions?limit=5")];
    expect([old.status, old.text]).toEqual([now.status, now.text]);
    expect(old.headers).toMatchObject({
      deprecation: "@1795132800",
      link: '</api/v1/sessions>; rel="successor-version"',
    });
    expect(now.headers).not.toHaveProperty("deprecation");
  });

  it("still ignores unknown names in the query", async () => {
    expect((await get("/api/sessions?colour=red")).status).toBe(200);
  });

  it("is still 404 for another method, and for a route that it never had", async () => {
    const headers = clientHeaders(server.port);
    const wrong = await send(server.port, { method: "DELETE", path: "/api/sessions", headers });
    expectError(wrong, 404, "USAGE");
    expectError(await get("/api/openapi.json"), 404, "USAGE");
  });

  it("streams events with the header too", async () => {
    const reply = await send(server.port, { method: "HEAD", path: "/api/events", headers: clientHeaders(server.port) });
    expect([reply.status, reply.headers.deprecation]).toEqual([200, "@1795132800"]);
  });
});

interface Extra {
  headers?: Record<string, string>;
  query?: string;
  body?: string;
}

function ask({ method, path }: Pick<Route, "method" | "path">, extra: Extra): Promise<WireResponse> {
  const { headers = clientHeaders(server.port), query = "", body } = extra;
  return send(server.port, { method, path: path + query, headers, ...(body === undefined ? {} : { body }) });
}

function get(path: string): Promise<WireResponse> {
  return ask({ method: "GET", path }, {});
}

/** Errors are JSON with a code, the value in the message, and the next step. Nothing was done, and nothing is logged. */
function expectError(reply: WireResponse, status: number, code: string, named = ""): void {
  expect(reply.headers["content-type"]).toBe("application/json");
  const { error } = JSON.parse(reply.text);
  expect({ status: reply.status, code: error.code }).toEqual({ status, code });
  expect(error.message).toContain(named);
  expect(error.message.length).toBeGreaterThan(5);
  expect(error.fix).toMatch(/\w{2,}/);
  expect([service.commands, failures]).toEqual([[], []]);
}
