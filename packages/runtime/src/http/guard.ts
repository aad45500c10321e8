import type { IncomingMessage } from "node:http";

/**
 * Why a request is refused before anything looks at its path, or null.
 *
 * A loopback port is reachable from every page that a browser on this machine shows. What such a page cannot forge is
 * where it comes from: Host, Origin and Sec-Fetch-Site are written by the browser. Whoever has no browser needs the
 * token anyway.
 */
export function refusalOf(request: IncomingMessage, port: number): string | null {
  const { headers, method = "GET", url = "" } = request;
  const hosts = valuesOf(request, "host");
  const host = hosts[0] ?? "";
  if (hosts.length !== 1 || !hostsOf(port).includes(host)) return `host ${JSON.stringify(hosts.join(", "))}`;
  if (!url.startsWith("/")) return "a request target that is no path";
  if (headers.upgrade !== undefined) return `an upgrade to ${JSON.stringify(headers.upgrade)}`;
  const foreign = valuesOf(request, "origin").find((origin) => origin !== `http://${host}`);
  if (foreign !== undefined) return `origin ${JSON.stringify(foreign)}`;
  // `same-site` is another port of this machine: as foreign as any.
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return `a ${site} request`;
  if (method !== "GET" && method !== "HEAD" && !isJson(headers["content-type"])) {
    return `${method} with content type ${JSON.stringify(headers["content-type"] ?? "")}`;
  }
  return null;
}

/** What `Host` may say. Browsers leave the default port out. */
export function hostsOf(port: number): string[] {
  return ["127.0.0.1", "localhost", "[::1]"].map((name) => (port === 80 ? name : `${name}:${port}`));
}

/** Sent with every answer, whatever it is; only a static file replaces `no-store`. No `Access-Control-*` header is ever among them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** All values of a header: Node itself hides repeated ones. */
function valuesOf(request: IncomingMessage, name: string): string[] {
  return request.rawHeaders.filter((_, i, raw) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}

/** A page of another origin can only send the content types of a form without asking first; JSON is none of them. */
function isJson(contentType: string | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}
