import { readFileSync } from "node:fs";

/** The version of this package, as its manifest says. */
export function ownVersion(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}
