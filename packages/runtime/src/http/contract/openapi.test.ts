import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listRouterPaths } from "../routes.fixture.ts";
import type { HttpServer } from "../serve.ts";
import { createFakeService, serveFake } from "../service.fixture.ts";
import { clientHeaders, errorOf, send } from "../wire.fixture.ts";
import { apiRoutes } from "./api-routes.ts";
import { buildOpenApi, type OpenApiDocument } from "./openapi.ts";

// Generated clients are as good as the document: it has to be valid, and it has to have every route.

const document = buildOpenApi();
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

let server: HttpServer;
beforeAll(async () => {
  server = await serveFake(createFakeService());
});
afterAll(() => server.close());

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(plain(document));
    expect({ valid, errors, version: validator.version }).toEqual({ valid: true, errors: undefined, version: "3.1" });
  });

  it("is found invalid when an operation has no responses", async () => {
    const broken = structuredClone(document);
    broken.paths["/status"] = { get: { operationId: "x" } as never, sessions: [] as never };
    expect((await new Validator().validate(plain(broken))).valid).toBe(false);
  });

  it("is served as it was built, to a client with the token", async () => {
    const reply = await send(server.port, { path: "/api/v1/openapi.json", headers: clientHeaders(server.port) });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
    expect(JSON.parse(reply.text)).toEqual(document);
    const headers = { Host: `127.0.0.1:${server.port}` };
    const refused = await send(server.port, { path: "/api/v1/openapi.json", headers });
    expect([refused.status, errorOf(refused).code]).toEqual([401, "UNAUTHORIZED"]);
  });

  it("has every route of the router, and no other", () => {
    const inRouter = listRouterPaths().filter((route) => route.includes(" /api/v1/"));
    const inDocument = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} /api/v1${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    );
    expect(inDocument.sort()).toEqual(inRouter.sort());
  });

  it("names every operation once", () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  it("describes each parameter of each path, each success, and the errors with their codes", () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(methods)) {
        const parameters = (operation.parameters ?? []) as { name: string; in: string; schema: object }[];
        expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(names);
        for (const { schema } of parameters) expect(schema).toHaveProperty("type");
        const statuses = Object.keys(operation.responses);
        expect(statuses.filter((status) => status.startsWith("2")).length).toBeGreaterThan(0);
        expect(statuses).toEqual(expect.arrayContaining(["400", "401", "403", "500", "503"]));
      }
    }
    expect(document.paths["/runs/{run}/steer"]?.post?.responses).toMatchObject({
      "404": { "x-codes": ["UNKNOWN_RUN"] },
      "413": { "x-codes": ["TOO_LARGE"] },
    });
  });

  it("leaves only the login open", () => {
    const open = operations.filter((operation) => operation.security !== undefined);
    expect(open.map(({ operationId, security }) => [operationId, security])).toEqual([["logIn", []]]);
    expect(document.security).toEqual([{ token: [] }, { cookie: [] }]);
  });

  it("refers only to schemas that it has, and accepts fields that a later version adds", () => {
    const text = JSON.stringify(document);
    const found = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = ""]) =>
      ref.replace("#/components/schemas/", ""),
    );
    expect(found.filter((name) => !Object.hasOwn(document.components.schemas, name))).toEqual([]);
    expect(found.length).toBeGreaterThan(100);
    const { SessionRow, RunRow } = document.components.schemas;
    expect([SessionRow, RunRow].map((schema) => schema?.additionalProperties)).toEqual([undefined, undefined]);
  });

  it("describes the body and the row of a session", () => {
    const { SubmitSession, SessionRow } = document.components.schemas as unknown as Record<string, Shape>;
    expect(SubmitSession?.required).toEqual(["task"]);
    expect(SubmitSession?.properties.origin).toMatchObject({ description: 'Default: `"api"`.' });
    expect(JSON.stringify(SubmitSession)).not.toContain('"default"');
    expect(SubmitSession?.properties.timeoutMs).toMatchObject({ type: ["integer", "string"] });
    expect(SessionRow?.required).toEqual(expect.arrayContaining(["session", "status", "turns", "costUsd"]));
  });
});

function plain(document: OpenApiDocument): Record<string, unknown> {
  return { ...structuredClone(document) };
}

interface Shape {
  required: string[];
  properties: Record<string, object>;
}

it("has the limits of the queries", () => {
  const parametersOf = (path: keyof OpenApiDocument["paths"]): object =>
    Object.fromEntries(
      ((document.paths[path]?.get?.parameters ?? []) as { name: string; schema: object }[]).map(({ name, schema }) => [
        name,
        schema,
      ]),
    );
  expect(parametersOf("/sessions")).toEqual({ limit: { type: "integer", minimum: 1, maximum: 500, default: 50 } });
  expect(parametersOf("/approvals")).toMatchObject({ state: { enum: ["waiting", "all"], default: "waiting" } });
  expect(Object.keys(apiRoutes).length).toBe(operations.length);
});
