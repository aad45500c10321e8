import { readFileSync } from "node:fs";

/** The version of this package, from its manifest. Its own copy: `troupe --version` must not load the runtime. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}
