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
  const unique = new Map(routes.map(({ method, path }) => [`${method} ${path}`, { method, path }]));
  return [...unique.values()].map(({ method, path }) => ({
    method: method === "ALL" ? "GET" : method,
    path: path.replaceAll(/:\w+/g, unknownId),
  }));
}
