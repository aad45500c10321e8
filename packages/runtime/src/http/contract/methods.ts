import { apiPath } from "./api-path.ts";
import { apiRoutes } from "./api-routes.ts";

const patterns = Object.keys(apiRoutes).map((key) => {
  const [method = "", path = ""] = key.split(" ");
  return { method, pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`) };
});

/** The methods that the routes of a path take; none for a path without routes, and for a path of an earlier version. */
export function methodsOf(path: string): string[] {
  if (!path.startsWith(`${apiPath}/`)) return [];
  const below = path.slice(apiPath.length);
  return patterns.filter(({ pattern }) => pattern.test(below)).map(({ method }) => method);
}
