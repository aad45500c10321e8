import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ErrorCode, exitCodes, TroupeError } from "@troupe/core";
import { ApiError } from "@troupe/core/internal";
import { findOwner, homeFiles, isSameOwner, type OwnerInfo, waitForOwnerExit } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { joinOwner } from "../session/join-or-start.ts";

/** The daemon in the background: `troupe up -d` and `troupe down`. */

const patienceMs = 15_000;

/** `troupe up -d`: starts the daemon and returns when it is ready. A running daemon stays. */
export async function upInBackground(cli: Cli, args: readonly string[], { json }: { json: boolean }): Promise<number> {
  const running = await joinOwner(cli);
  if (running && running.owner.kind !== "daemon") throw ownedByOther(cli, running.owner);
  if (running) {
    printAddress(cli, running.owner, { json, event: "running" });
    return 0;
  }
  const { logs } = homeFiles(cli.home);
  await mkdir(logs, { recursive: true, mode: 0o700 });
  const errors = join(logs, "up.log");
  const { firstLine } = await cli.processes.startDetached(args, errors);
  if (firstLine === null) throw await failedStart(errors);
  const refused = refusalIn(firstLine);
  if (refused) throw refused;
  const owner = await findOwner(cli.home, { patienceMs, signal: cli.interrupts.signal });
  if (!owner) throw await failedStart(errors);
  if (json) cli.terminal.out.line(firstLine);
  else printAddress(cli, owner, { json, event: "ready" });
  return 0;
}

function printAddress(
  { terminal: { out, err } }: Cli,
  { url, token, pid, version }: OwnerInfo,
  { json, event }: { json: boolean; event: "ready" | "running" },
): void {
  if (json) {
    out.line(jsonLine({ event, url, token, pid, version }));
    return;
  }
  out.line(`${out.colours.green(event)}  ${out.colours.cyan(`${url}/#token=${token}`)}`);
  err.line(err.colours.dim(`pid ${pid} · troupe ps shows what it does · troupe down stops it`));
}

/** The error in the first line of a daemon that did not start. Null for its ready line. */
function refusalIn(line: string): TroupeError | null {
  const refused = ApiError.safeParse(JSON.parse(line));
  if (!refused.success) return null;
  const { code, message, fix } = refused.data.error;
  const known = Object.hasOwn(exitCodes, code) ? (code as ErrorCode) : "INTERNAL";
  return new TroupeError(known, message, fix === null ? {} : { fix });
}

/** The errors that the process wrote before it ended. */
async function failedStart(path: string): Promise<TroupeError> {
  const text = await readFile(path, "utf8").catch(() => "");
  const lines = cleanText(text).trim().split("\n");
  const message = lines.findLast((line) => line.startsWith("error: "))?.slice("error: ".length);
  const fix = lines.findLast((line) => line.startsWith("fix:"))?.replace(/^fix:\s*/, "");
  return new TroupeError("INTERNAL", message ?? "the daemon ended before it was ready", { fix: fix ?? `cat ${path}` });
}

function ownedByOther({ home }: Cli, { kind, pid }: OwnerInfo): TroupeError {
  const what = kind === "run" ? "troupe run" : "a program";
  return new TroupeError("HOME_OWNED", `${what} with pid ${pid} uses the home ${home.path}`, {
    fix: `wait for it, or stop it: kill -INT ${pid}`,
  });
}

/** `troupe down`: stops the daemon of the home. Its unfinished sessions continue at the next start. */
export async function down(cli: Cli, { json, timeoutMs }: { json: boolean; timeoutMs: number }): Promise<number> {
  const { out, err } = cli.terminal;
  const owner = await findOwner(cli.home, { patienceMs, signal: cli.interrupts.signal });
  if (!owner) {
    if (json) out.line(jsonLine({ stopped: false, pid: null }));
    else err.line(`no daemon runs the home ${cleanLine(cli.home.path)}`);
    return 0;
  }
  if (owner.kind !== "daemon") throw ownedByOther(cli, owner);
  if (!json) err.line(`stopping the daemon with pid ${owner.pid}`);
  await stop(cli, owner, timeoutMs);
  if (json) out.line(jsonLine({ stopped: true, pid: owner.pid }));
  else out.line("stopped; unfinished sessions continue at the next troupe up");
  return 0;
}

/** The lock names the process: a file of a killed daemon never leads to a signal for another process. */
async function stop(cli: Cli, owner: OwnerInfo, timeoutMs: number): Promise<void> {
  const { signal } = cli.interrupts;
  const now = await findOwner(cli.home, { patienceMs, signal });
  if (!now || !isSameOwner(now, owner)) return;
  cli.processes.interrupt(owner.pid);
  const ended = new AbortController();
  const exit = waitForOwnerExit(cli.home, owner, AbortSignal.any([signal, ended.signal])).then(() => true);
  try {
    const stopped = await Promise.race([exit, delay(timeoutMs, false, { signal: ended.signal })]);
    if (stopped) return;
  } finally {
    ended.abort();
    exit.catch(() => {});
  }
  throw new TroupeError("TIMEOUT", `the daemon with pid ${owner.pid} has not stopped after ${timeoutMs / 1_000} s`, {
    fix: `troupe down --timeout 2m, or end it at once: kill -KILL ${owner.pid} (its sessions continue at the next start)`,
  });
}
