import { createHttpApp } from "./app.ts";
import type { Assets } from "./assets.ts";
import { createFakeService, token, unknownId } from "./service.fixture.ts";

export interface RoutePath {
  method: string;
  path: string;
}

/**
 * Every route of the router, with an id for each parameter. A new route is thus covered by the tests of protection.
 */
export function listRoutes(): RoutePath[] {
  return listRouterPaths().map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path: path.replaceAll(/:\w+/g, unknownId) };
  });
}

/** Every route of the router, such as `GET /api/v1/sessions/:id`. */
export function listRouterPaths(): string[] {
  const assets: Assets = { find: async () => null, shell: () => Promise.reject(new Error("no shell")) };
  const options = {
    service: createFakeService(),
    token,
    port: 1,
    assets,
    heartbeatMs: 1_000,
    streams: new Set<() => void>(),
  };
  const app = createHttpApp({ ...options, onError() {} });
  const routes = app.routes.filter(({ path }) => !path.endsWith("/*"));
  return [...new Set(routes.map(({ method, path }) => `${method} ${path}`))];
}
