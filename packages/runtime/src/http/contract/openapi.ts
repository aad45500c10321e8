import type { ErrorCode } from "@troupe/core";
import { LiveEvent } from "@troupe/core";
import { ApiError, RecordChange } from "@troupe/core/internal";
import { z } from "zod";
import { statuses } from "../errors.ts";
import { apiPath } from "./api-path.ts";
import { routeGroups } from "./api-routes.ts";
import { paramKinds } from "./param-kinds.ts";
import type { RouteContract } from "./route.ts";
import { type ComponentSchema, createSchemas, type Schemas, schemaOf } from "./schema-components.ts";

/** An OpenAPI document, as far as this module builds one. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: object[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, ComponentSchema>; securitySchemes: object };
}

interface Operation {
  operationId: string;
  responses: Record<string, object>;
  [field: string]: unknown;
}

/** The version of the API's contract. Fields and routes are added under one number; `/api/v2` would be another. */
const contractVersion = "1.0.0";

/** Builds the OpenAPI 3.1 document of all routes. */
export function buildOpenApi(): OpenApiDocument {
  const schemas = createSchemas();
  const paths: OpenApiDocument["paths"] = {};
  for (const [tag, routes] of Object.entries(routeGroups)) {
    for (const [key, contract] of Object.entries(routes) as [string, RouteContract][]) {
      const [method = "", path = ""] = key.split(" ");
      paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(tag, contract, schemas) };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "troupe",
      version: contractVersion,
      description: "The HTTP API of a troupe daemon. It listens on loopback only.",
    },
    servers: [{ url: apiPath }],
    security: [{ token: [] }, { cookie: [] }],
    tags: Object.keys(routeGroups).map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components(),
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The token in the file `token` of TROUPE_HOME." },
        cookie: { type: "apiKey", in: "cookie", name: "troupe_PORT", description: "Set by `logIn`, for browsers." },
      },
    },
  };
}

let text: string | null = null;

/** The document as text. It is built at the first call. */
export function openApiText(): string {
  text ??= JSON.stringify(buildOpenApi());
  return text;
}

function operationOf(tag: string, contract: RouteContract, schemas: Schemas): Operation {
  const { operation, summary, description, body } = contract;
  const parameters = parametersOf(contract);
  return {
    operationId: operation,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(contract.open ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse({}).success,
        content: { "application/json": { schema: schemas.body(`${operation}Body`, body) } },
      },
    }),
    responses: { ...successOf(contract, schemas), ...errorsOf(contract, schemas) },
  };
}

function parametersOf({ params = {}, query }: RouteContract): object[] {
  const inPath = Object.entries(params).map(([name, kind]) => {
    const { schema, description } = paramKinds[kind];
    return { name, in: "path", required: true, description, schema: schemaOf(schema, "input") };
  });
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, field]) => {
    const { description, ...schema } = schemaOf(field as z.ZodType, "input");
    const required = !(field as z.ZodType).safeParse(undefined).success;
    return { name, in: "query", required, description: description ?? name, schema };
  });
  return [...inPath, ...inQuery];
}

function successOf(contract: RouteContract, schemas: Schemas): Record<string, object> {
  const { operation, summary, reply, status = 200, otherStatus, media = "application/json" } = contract;
  if (reply === null) return { [status]: { description: summary } };
  const schema = schemas.reply(`${operation}Reply`, reply);
  const events = media === "text/event-stream" ? { "x-events": eventsOf(schemas) } : {};
  const response = { description: summary, content: { [media]: { schema, ...events } } };
  return { [status]: response, ...(otherStatus === undefined ? {} : { [otherStatus]: response }) };
}

/** OpenAPI 3.1 has no field for the events of a stream. */
function eventsOf(schemas: Schemas): object {
  const resync = z.object({ position: z.int() });
  return {
    change: schemas.reply("RecordChange", RecordChange),
    live: schemas.reply("LiveEvent", LiveEvent),
    resync: schemas.reply("Resync", resync),
  };
}

/** Every route can be refused by the guard, lack the token, and meet a daemon that fails or stops. */
const generalErrors: readonly ErrorCode[] = ["UNAUTHORIZED", "FORBIDDEN", "USAGE", "INTERNAL", "CLOSING"];

function errorsOf(contract: RouteContract, schemas: Schemas): Record<string, object> {
  const { params = {}, body, errors = [], open } = contract;
  const ofParams = Object.values(params).map((kind) => paramKinds[kind].code);
  const all = [...generalErrors, ...(body ? (["TOO_LARGE"] as const) : []), ...ofParams, ...errors];
  const codes = [...new Set(all)].filter((code) => !(open && code === "UNAUTHORIZED" && !errors.includes(code)));
  const byStatus = Object.groupBy(codes, (code) => String(statuses[code]));
  const schema = schemas.reply("ApiError", ApiError);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, found = []]) => [
      status,
      {
        description: `An error with the code ${found.join(" or ")}.`,
        "x-codes": found,
        content: { "application/json": { schema } },
      },
    ]),
  );
}
