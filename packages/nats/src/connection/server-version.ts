import { TroupeError } from "@troupe/core";

type Version = readonly [major: number, minor: number, patch: number];

/** The first version with batched direct reads, which the journal uses to read runs. */
const oldestSupported: Version = [2, 11, 0];

/** The first version of each release line without the vulnerabilities that `advisories` names. */
const patched: readonly Version[] = [
  [2, 11, 16],
  [2, 12, 7],
  [2, 14, 0],
];
const advisories = "CVE-2025-30215, CVE-2026-27889 and the NATS advisories 2026-16 and 2026-18";

/** Throws `UNSUPPORTED_SERVER` for a server that is too old. */
export function checkServer({ version: text }: { version: string }, redactedUrl: string): void {
  const version = parse(text);
  if (!version || compare(version, oldestSupported) >= 0) return;
  const message = `the NATS server at ${redactedUrl} is ${text}: troupe needs 2.11 or later`;
  throw new TroupeError("UNSUPPORTED_SERVER", message, {
    fix: `upgrade it, best to ${patched.map((each) => each.join(".")).join(", ")} or later`,
  });
}

/**
 * Security warnings for a server's version.
 *
 * @example
 * for (const warning of serverWarnings({ version: "2.11.3" })) console.warn(warning);
 */
export function serverWarnings({ version: text }: { version: string }): string[] {
  const version = parse(text);
  if (!version || isPatched(version)) return [];
  const fixed = patched.map((each) => each.join("."));
  return [`nats-server ${text} has known security holes (${advisories}); fixed in ${fixed.join(", ")} and later`];
}

function isPatched(version: Version): boolean {
  const line = patched.find(([major, minor]) => major === version[0] && minor === version[1]);
  return compare(version, line ?? (patched.at(-1) as Version)) >= 0;
}

/** Null for text that is not a release number: a custom build may have any version. */
function parse(text: string): Version | null {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

function compare(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
