import { TroupeError } from "@troupe/core";
import { findOwner, type OwnerInfo, waitForOwnerExit } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { isSettled } from "./client.ts";

/** The sessions that a check of idleness reads. */
const sessionsMax = 500;

/** The error of a daemon whose API this version does not speak. */
export function otherVersion(cli: Pick<Cli, "version">, owner: OwnerInfo, cause: unknown): TroupeError {
  const message = `the daemon with pid ${owner.pid} has version ${owner.version}, and this command ${cli.version}`;
  return new TroupeError("CONFLICT", message, { fix: "troupe up   # replaces an older daemon when it is idle", cause });
}

/**
 * Stops a daemon of an older version that owns the home, if it works on no session. Throws `HOME_OWNED` with its version if
 * it does. A daemon of this version or of a newer one is left alone.
 */
export async function stopOlderDaemon(cli: Cli): Promise<void> {
  const owner = await findOwner(cli.home, { patienceMs: 2_000, signal: cli.interrupts.signal }).catch(() => null);
  if (owner?.kind !== "daemon" || !isOlder(owner.version, cli.version)) return;
  const active = await countActive(owner);
  if (active > 0) {
    const work = active === 1 ? "1 session" : `${active} sessions`;
    const message = `a daemon of version ${owner.version} (pid ${owner.pid}) works on ${work}; this is ${cli.version}`;
    throw new TroupeError("HOME_OWNED", message, { fix: "wait until they settle, then: troupe up" });
  }
  // It finishes its work and releases the home, as after Ctrl-C. A session that began just now continues here.
  process.kill(owner.pid, "SIGINT");
  await waitForOwnerExit(cli.home, owner, cli.interrupts.signal);
  cli.terminal.err.line(`stopped the idle daemon of version ${owner.version}; this is ${cli.version}`);
}

/** Its API is not that of this version, so the rows are read without the client: under `/api/v1`, else under `/api`. */
async function countActive({ url, token }: OwnerInfo): Promise<number> {
  for (const path of ["/api/v1/sessions", "/api/sessions"]) {
    const response = await fetch(`${url}${path}?limit=${sessionsMax}`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 404) continue;
    const { sessions } = (await response.json()) as { sessions?: { status?: unknown }[] };
    if (response.ok && Array.isArray(sessions))
      return sessions.filter(({ status }) => !isSettled(String(status))).length;
  }
  throw new TroupeError("HOME_OWNED", `the daemon at ${url} does not list its sessions`, { fix: "troupe doctor" });
}

/** Compares the three numbers of versions. */
export function isOlder(version: string, than: string): boolean {
  const numbersOf = (text: string): number[] => text.split(/[.+-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [one, other] = [numbersOf(version), numbersOf(than)];
  const different = [0, 1, 2].find((i) => one[i] !== other[i]);
  return different !== undefined && (one[different] ?? 0) < (other[different] ?? 0);
}
