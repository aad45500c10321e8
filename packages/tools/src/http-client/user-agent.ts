import { readFileSync } from "node:fs";

/**
 * How web tools say who they are. One word to know them by (`troupe`), and what they are: a page is fetched because a
 * user's agent was asked about it, once, as a browser would; nothing is crawled. So robots.txt, which speaks to
 * crawlers, is not asked, while everything that a server says to this very request counts: its refusals, its
 * `Retry-After`, its `no-store`.
 */
export function userAgent(): string {
  return `troupe/${ownVersion()} (an agent that fetches one page for one user; not a crawler)`;
}

function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
}
