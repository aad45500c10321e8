import { type Control, type OwnedHome, tryAcquireHome } from "troupe/internal";
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
    const member = await joinOwner(cli);
    if (member) return use(member.client, { live: true });
    // Null when somebody else was faster: there is an owner now.
    const home = await tryAcquireHome(cli.home);
    if (home) return withRestingHome(cli, home, use);
    cli.interrupts.signal.throwIfAborted();
  }
}

async function withRestingHome<T>(cli: Cli, home: OwnedHome, use: Use<T>): Promise<T> {
  // Undone in reverse, whichever step fails.
  const undo: (() => unknown)[] = [() => home.release()];
  try {
    const log = openLogger({ home, env: cli.env, now: new Date(cli.now()) });
    undo.push(() => log.close());
    const resting = await cli.composition.rest({ home, env: cli.env, logger: log.logger });
    undo.push(() => resting.close());
    return await use(resting.control, { live: false });
  } finally {
    for (let step = undo.pop(); step; step = undo.pop()) await step();
  }
}

/** Said after a wish that nobody has heard yet. */
export function noteIfOffline(cli: Cli, live: boolean): void {
  const { err } = cli.terminal;
  if (!live) err.line(err.colours.yellow("nobody runs this home now; it takes effect with the next: troupe up"));
}

/** Who an answer or a wish is from, for those who read of it later. */
export function personOf(env: NodeJS.ProcessEnv): string {
  return (env.USER || env.LOGNAME || "").trim().slice(0, 200) || "a person";
}
