import { setTimeout as delay } from "node:timers/promises";
import type { Member } from "./member.ts";

const awayMs = 300;

/** Starts every one of them again whenever it has ended, as a keeper of services does. */
export function keepAlive(members: readonly Member[]) {
  let stopped = false;
  const keep = async (member: Member): Promise<void> => {
    while (!stopped) {
      await member.ended();
      if (stopped) return;
      await delay(awayMs);
      await member.start();
    }
  };
  const keeping = members.map((member) => keep(member).catch(() => {}));
  return {
    /** Those who are being started are waited for; those who live are left alone. */
    async stop(): Promise<void> {
      stopped = true;
      await Promise.race([Promise.all(keeping), until(members)]);
    },
  };
}

async function until(members: readonly Member[]): Promise<void> {
  while (members.some((member) => member.living() === null)) await delay(50);
}
