import type { Context, Hono } from "hono";
import { type HttpEnv, readBody, readParam, readQuery } from "../input.ts";
import { apiPath } from "./api-path.ts";
import type { HandlerInput, ReplyOf, RouteContract, RouteContracts } from "./route.ts";

/** The beginning of the paths of earlier versions. They answer for one more version. */
const aliasPath = "/api";
/** When the paths of earlier versions became aliases: 2026-11-20, as RFC 9745 writes it. */
const deprecation = "@1795132800";

type Handler<Key extends string, C> = (
  input: HandlerInput<Key, C>,
  context: Context<HttpEnv>,
) => Promise<ReplyOf<C> | Response>;

/** One handler for each route of a group. */
export type Handlers<T extends RouteContracts> = { [Key in keyof T & string]: Handler<Key, T[Key]> };

/**
 * Adds the routes of a group to the router, at their path below `/api/v1`, and at their alias if they have one. Handlers
 * get checked input. The result of a handler is sent as JSON; a `Response` is sent unchanged.
 *
 * @example
 * addRoutes(app, ruleContract, { "GET /rules": async () => ({ rules: await service.rules() }) });
 */
export function addRoutes<T extends RouteContracts>(app: Hono<HttpEnv>, routes: T, handlers: Handlers<T>): void {
  for (const [key, contract] of Object.entries(routes) as [keyof T & string, RouteContract][]) {
    const { method, path } = pathOf(key);
    const handler = handlers[key] as Handler<string, RouteContract>;
    app.on(method, apiPath + path, (context) => answer(context, contract, handler, true));
    if (!contract.alias) continue;
    app.on(method, aliasPath + path, (context) => {
      const { outgoing } = context.env;
      outgoing.setHeader("deprecation", deprecation);
      outgoing.setHeader("link", `<${context.req.path.replace(aliasPath, apiPath)}>; rel="successor-version"`);
      return answer(context, contract, handler, false);
    });
  }
}

/** The method and the path, as the router writes it, of a route such as `GET /sessions/{id}`. */
export function pathOf(key: string): { method: string; path: string } {
  const [method = "", path = ""] = key.split(" ");
  return { method, path: path.replaceAll(/\{(\w+)\}/g, ":$1") };
}

/** `strict`: an unknown name in the query is an error. Paths of earlier versions ignored it. */
async function answer(
  context: Context<HttpEnv>,
  contract: RouteContract,
  handler: Handler<string, RouteContract>,
  strict: boolean,
): Promise<Response> {
  const { params = {}, body, status = 200, media } = contract;
  const input = {
    params: Object.fromEntries(Object.entries(params).map(([name, kind]) => [name, readParam(context, name, kind)])),
    query: readQuery(context, contract.query, strict),
    body: body && (await readBody(context, body, contract)),
  };
  context.status(status);
  const reply: unknown = await handler(input as HandlerInput<string, RouteContract>, context);
  if (reply instanceof Response) return reply;
  if (reply === null) return context.body(null);
  if (media !== undefined) return context.body(String(reply), { headers: { "content-type": media } });
  return context.json(reply as object);
}
