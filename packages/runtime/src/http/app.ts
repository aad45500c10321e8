import type { Redactor } from "@troupe/core";
import { type Context, Hono } from "hono";
import { addAgentFileRoutes } from "./agent-file-routes.ts";
import { addApprovalRoutes } from "./approval-routes.ts";
import type { Asset, Assets } from "./assets.ts";
import { createAuth } from "./auth.ts";
import { methodsOf } from "./contract/methods.ts";
import { addConversationRoutes } from "./conversation-routes.ts";
import { addCostRoutes } from "./cost-routes.ts";
import { addDaemonRoutes } from "./daemon-routes.ts";
import { type ErrorReply, isInternal, noSuchMethod, noSuchPath, toErrorReply } from "./errors.ts";
import { addEventRoutes, type EventRouteOptions } from "./event-routes.ts";
import type { HttpEnv } from "./input.ts";
import { addRunRoutes } from "./run-routes.ts";
import { addSearchRoutes } from "./search-routes.ts";
import { addSessionArchiveRoutes } from "./session-archive-routes.ts";
import { addSessionFileRoutes } from "./session-file-routes.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { addWebhookRoutes } from "./webhook-routes.ts";

export interface HttpAppOptions extends EventRouteOptions {
  token: string;
  /** The port that the server listens on. */
  port: number;
  assets: Assets;
  /** Removes secrets from error replies. */
  redact?: Redactor | undefined;
  /** Called with every error that is the daemon's own fault. */
  onError(error: unknown): void;
}

/** Builds the router with all routes. The guard in `serve.ts` has checked the origin of each request before. */
export function createHttpApp(options: HttpAppOptions): Hono<HttpEnv> {
  const { service, token, port, assets, onError, redact } = options;
  const app = new Hono<HttpEnv>();
  const auth = createAuth(token, port);
  const reply = (context: Context<HttpEnv>, { status, body }: ErrorReply) =>
    context.json(redact?.json(body) ?? body, status);

  app.onError((error, context) => {
    if (isInternal(error)) onError(error);
    return reply(context, toErrorReply(error));
  });
  app.use("/*", auth.middleware);
  addDaemonRoutes(app, service, auth);
  addSessionRoutes(app, service);
  addSessionFileRoutes(app, service);
  addSessionArchiveRoutes(app, service);
  addRunRoutes(app, service);
  addConversationRoutes(app, service);
  addSearchRoutes(app, service);
  addCostRoutes(app, service);
  addApprovalRoutes(app, service);
  addAgentFileRoutes(app, service);
  addEventRoutes(app, options);
  addWebhookRoutes(app, service);
  app.notFound(async (context) => {
    const asset = await findAsset(context, assets);
    if (asset)
      return context.body(asset.bytes, 200, { "content-type": asset.type, "cache-control": asset.cacheControl });
    const { method, path } = context.req;
    const methods = methodsOf(path);
    if (methods.length === 0) return reply(context, noSuchPath(method, path));
    context.header("allow", methods.join(", "));
    return reply(context, noSuchMethod(method, path, methods));
  });
  return app;
}

/** Finds the file at the path. Any other path of the dashboard gets its page, because the page routes by itself. */
async function findAsset(context: Context<HttpEnv>, assets: Assets): Promise<Asset | null> {
  const { method, path } = context.req;
  if ((method !== "GET" && method !== "HEAD") || path.startsWith("/api/")) return null;
  const asset = await assets.find(path);
  if (asset) return asset;
  const wantsPage = path === "/" || (context.req.header("accept") ?? "").includes("text/html");
  return wantsPage ? await assets.shell() : null;
}
