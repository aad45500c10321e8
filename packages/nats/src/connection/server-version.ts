import { TroupeError } from "@troupe/core";

type Version = readonly [major: number, minor: number, patch: number];

/** The first that reads many messages at once, by which runs are read. */
const least: Version = [2, 11, 0];

/** The first of each line without the holes that the warning names. */
const mended: readonly Version[] = [
  [2, 11, 16],
  [2, 12, 7],
  [2, 14, 0],
];
const advisories = "CVE-2025-30215, CVE-2026-27889 and the NATS advisories 2026-16 and 2026-18";

/** Throws `UNSUPPORTED_SERVER` for one that lacks what the ports over NATS are built on. */
export function checkServer({ version: text }: { version: string }, shown: string): void {
  const version = parse(text);
  if (!version || compare(version, least) >= 0) return;
  throw new TroupeError("UNSUPPORTED_SERVER", `the NATS server at ${shown} is ${text}: troupe needs 2.11 or later`, {
    fix: `upgrade it, best to ${mended.map((each) => each.join(".")).join(", ")} or later`,
  });
}

/**
 * What people should know of a server's version.
 *
 * @example
 * for (const warning of serverWarnings({ version: "2.11.3" })) console.warn(warning);
 */
export function serverWarnings({ version: text }: { version: string }): string[] {
  const version = parse(text);
  if (!version || isMended(version)) return [];
  const fixed = mended.map((each) => each.join("."));
  return [`nats-server ${text} has known security holes (${advisories}); mended in ${fixed.join(", ")} and later`];
}

function isMended(version: Version): boolean {
  const line = mended.find(([major, minor]) => major === version[0] && minor === version[1]);
  return compare(version, line ?? (mended.at(-1) as Version)) >= 0;
}

/** Null for what no release is called: a build of one's own may be anything. */
function parse(text: string): Version | null {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
