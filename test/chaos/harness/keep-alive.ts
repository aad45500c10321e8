import { setTimeout as delay } from "node:timers/promises";
import type { Member } from "./member.ts";

const awayMs = 300;

/** Starts every one of them again whenever it has ended, as a keeper of services does. */
export function keepAlive(members: readonly Member[]) {
  let stopped = false;
  const restartWhenEnded = async (member: Member): Promise<void> => {
    while (!stopped) {
      await member.ended();
      if (stopped) return;
      await delay(awayMs);
      await member.start();
    }
  };
  const restarts = members.map((member) => restartWhenEnded(member).catch(() => {}));
  return {
    /** Waits for members that are starting, and leaves running members alone. */
    async stop(): Promise<void> {
      stopped = true;
      await Promise.race([Promise.all(restarts), untilRunning(members)]);
    },
  };
}

async function untilRunning(members: readonly Member[]): Promise<void> {
  while (members.some((member) => member.current() === null)) await delay(50);
}
