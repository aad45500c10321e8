import type { IncomingMessage } from "node:http";

/**
 * Why a request must be refused before routing, or null.
 *
 * Every web page in a browser on this machine can reach a loopback port. But the browser itself writes Host, Origin and
 * Sec-Fetch-Site, so a page cannot forge them. Clients that are not browsers need the token anyway.
 */
export function refusalOf(request: IncomingMessage, port: number): string | null {
  const { headers, method = "GET", url = "" } = request;
  const hosts = valuesOf(request, "host");
  const host = hosts[0] ?? "";
  if (hosts.length !== 1 || !hostsOf(port).includes(host)) return `host ${JSON.stringify(hosts.join(", "))}`;
  if (!url.startsWith("/")) return "the request target is not a path";
  if (headers.upgrade !== undefined) return `upgrade to ${JSON.stringify(headers.upgrade)}`;
  const foreign = valuesOf(request, "origin").find((origin) => origin !== `http://${host}`);
  if (foreign !== undefined) return `origin ${JSON.stringify(foreign)}`;
  // `same-site` means another port of this machine, which is foreign too.
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return `${site} request`;
  if (method !== "GET" && method !== "HEAD" && !isJson(headers["content-type"])) {
    return `${method} with content type ${JSON.stringify(headers["content-type"] ?? "")}`;
  }
  return null;
}

/** The allowed values of `Host`. Browsers omit the default port. */
export function hostsOf(port: number): string[] {
  return ["127.0.0.1", "localhost", "[::1]"].map((name) => (port === 80 ? name : `${name}:${port}`));
}

/** Sent with every reply. Only static files replace `no-store`. No `Access-Control-*` header may be added here. */
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

/** All values of a header. Node's `headers` hides repeated ones. */
function valuesOf(request: IncomingMessage, name: string): string[] {
  return request.rawHeaders.filter((_, i, raw) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name);
}

/** A page of another origin can send form content types without a preflight request, but not JSON. */
function isJson(contentType: string | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}
