import { type Control, createCleanup, type OwnedHome, tryAcquireHome } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { joinOwner } from "./join-or-start.ts";

/** `live`: a process runs the home, so the command takes effect at once. */
type Use<T> = (control: Control, how: { live: boolean }) => Promise<T>;

/**
 * Sends a command to the owner of the home. Without an owner, the command is written to the home's journal and takes effect
 * when a daemon starts.
 */
export async function withControl<T>(cli: Cli, use: Use<T>): Promise<T> {
  for (;;) {
    const connection = await joinOwner(cli);
    if (connection) return use(connection.client, { live: true });
    // Null if another process became the owner in the meantime.
    const home = await tryAcquireHome(cli.home);
    if (home) return withOfflineHome(cli, home, use);
    cli.interrupts.signal.throwIfAborted();
  }
}

async function withOfflineHome<T>(cli: Cli, home: OwnedHome, use: Use<T>): Promise<T> {
  const cleanup = createCleanup();
  cleanup.add(() => home.release());
  try {
    const { openLogger } = await import("../logger.ts");
    const log = openLogger({ home, env: cli.env, now: new Date(cli.now()) });
    cleanup.add(() => log.close());
    const offline = await cli.composition.openOffline({ home, env: cli.env, logger: log.logger });
    cleanup.add(() => offline.close());
    return await use(offline.control, { live: false });
  } finally {
    await cleanup.run();
  }
}

/** Warns that the command takes effect only at the next start. */
export function noteIfOffline(cli: Cli, live: boolean): void {
  const { err } = cli.terminal;
  if (!live) err.line(err.colours.yellow("no daemon is running; this takes effect with the next: troupe up"));
}

/** The name that is recorded as the author of an answer or a command. */
export function userName(env: NodeJS.ProcessEnv): string {
  return (env.USER || env.LOGNAME || "").trim().slice(0, 200) || "a person";
}
