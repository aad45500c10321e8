import { setTimeout as delay } from "node:timers/promises";
import type { Member } from "./member.ts";

export interface Kill {
  name: string;
  at: number;
  pid: number;
}

export interface KillerOptions {
  members: readonly Member[];
  random: () => number;
  /** The pause between two kills. @default [3_000, 10_000] */
  everyMs?: readonly [number, number];
  /** How long who was killed stays away. @default [200, 2_000] */
  awayMs?: readonly [number, number];
  /** Whether one of them may die now. @default they may at any time */
  mayDie?(member: Member): Promise<boolean>;
}

/** Kills one process after the other, any of them, and has each started again after a moment. */
export function startKiller(options: KillerOptions) {
  const { members, random, everyMs = [3_000, 10_000], awayMs = [200, 2_000] } = options;
  const kills: Kill[] = [];
  const comingBack = new Set<Promise<unknown>>();
  const stopping = new AbortController();
  const between = ([from, to]: readonly [number, number]): number => from + Math.floor(random() * (to - from));

  /** Never kills a member that is still starting. */
  const killOne = async (): Promise<void> => {
    const living = members.filter((member) => member.current() !== null);
    const victim = living[Math.floor(random() * living.length)];
    const away = between(awayMs);
    if (!victim || (options.mayDie && !(await options.mayDie(victim)))) return;
    const ended = await victim.kill();
    if (!ended) return;
    kills.push({ name: victim.name, at: ended.endedAt ?? Date.now(), pid: ended.pid });
    const back = delay(away).then(() => victim.start());
    comingBack.add(back);
    void back.finally(() => comingBack.delete(back)).catch(() => {});
  };

  const killing = (async () => {
    while (!stopping.signal.aborted) {
      await delay(between(everyMs), undefined, { signal: stopping.signal }).catch(() => {});
      if (!stopping.signal.aborted) await killOne();
    }
  })();

  return {
    kills,
    /** No more kills; resolves when everybody lives again. */
    async stop(): Promise<void> {
      stopping.abort();
      await killing;
      await Promise.all(comingBack);
    },
  };
}
