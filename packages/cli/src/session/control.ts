import { type Control, createCleanup, type OwnedHome, tryAcquireHome } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { openLogger } from "../logger.ts";
import { joinOwner } from "./join-or-start.ts";

/** `live`: somebody runs the home, and heeds a wish at once. */
type Use<T> = (control: Control, how: { live: boolean }) => Promise<T>;

/**
 * Lets a wish be made: through the owner of the home, or in the home itself where nobody owns it. There it is as
 * durable, and heeded as soon as a daemon runs the home again.
 */
export async function withControl<T>(cli: Cli, use: Use<T>): Promise<T> {
  for (;;) {
    const connection = await joinOwner(cli);
    if (connection) return use(connection.client, { live: true });
    // Null when somebody else was faster: there is an owner now.
    const home = await tryAcquireHome(cli.home);
    if (home) return withOfflineHome(cli, home, use);
    cli.interrupts.signal.throwIfAborted();
  }
}

async function withOfflineHome<T>(cli: Cli, home: OwnedHome, use: Use<T>): Promise<T> {
  const cleanup = createCleanup();
  cleanup.add(() => home.release());
  try {
    const log = openLogger({ home, env: cli.env, now: new Date(cli.now()) });
    cleanup.add(() => log.close());
    const offline = await cli.composition.openOffline({ home, env: cli.env, logger: log.logger });
    cleanup.add(() => offline.close());
    return await use(offline.control, { live: false });
  } finally {
    await cleanup.run();
  }
}

/** Said after a wish that nobody has heard yet. */
export function noteIfOffline(cli: Cli, live: boolean): void {
  const { err } = cli.terminal;
  if (!live) err.line(err.colours.yellow("nobody runs this home now; it takes effect with the next: troupe up"));
}

/** Who an answer or a wish is from, for those who read of it later. */
export function userName(env: NodeJS.ProcessEnv): string {
  return (env.USER || env.LOGNAME || "").trim().slice(0, 200) || "a person";
}
