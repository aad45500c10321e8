import { type Clock, createSubjects, type Logger, silentLogger, type TakenTask } from "@troupe/core";
import type { TakeRequest } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import {
  createNatsBusOn,
  createNatsTaskQueue,
  ensureStreams,
  type NatsLink,
  type NatsTaskQueue,
  type NatsTaskQueueOptions,
  openNatsLink,
} from "@troupe/nats";

/** A clock that can be suspended like a process: overdue timers fire when it resumes. */
export interface SleepyClock extends Clock {
  sleep(): void;
  wake(): void;
}

export function createSleepyClock(clock: Clock = systemClock()): SleepyClock {
  let overdue: (() => void)[] | null = null;
  return {
    ...clock,
    after(delayMs, callback) {
      let isWanted = true;
      const act = (): void => {
        if (!isWanted) return;
        if (overdue) overdue.push(act);
        else callback();
      };
      const cancel = clock.after(delayMs, act);
      return () => {
        isWanted = false;
        cancel();
      };
    },
    sleep() {
      overdue ??= [];
    },
    wake() {
      const due = overdue ?? [];
      overdue = null;
      for (const act of due) act();
    },
  };
}

/** The work queue of one process. */
export interface QueueEnd {
  queue: NatsTaskQueue;
  link: NatsLink;
  clock: SleepyClock;
  logged: string[];
  take(request?: Partial<TakeRequest>): Promise<TakenTask[]>;
  /** Takes the next task, as soon as a hint announces one. */
  next(request?: Partial<TakeRequest>): Promise<TakenTask>;
  close(): Promise<void>;
}

export type QueueEndOptions = Partial<Omit<NatsTaskQueueOptions, "link" | "clock" | "logger">> & {
  url: string;
  namespace: string;
  /** Its hints are not published. */
  isMute?: boolean;
};

export async function openQueueEnd({ url, namespace, isMute = false, ...options }: QueueEndOptions): Promise<QueueEnd> {
  const link = await openNatsLink({ servers: url, reconnectDelayMs: 20 });
  const bus = { ...createNatsBusOn(link), ...(isMute ? { publish: () => {} } : {}) };
  await ensureStreams({ link, namespace });
  const clock = createSleepyClock();
  const logged: string[] = [];
  const note = (_: object, message: string): void => void logged.push(message);
  const queue = await createNatsTaskQueue({
    ...{ link, bus, subjects: createSubjects(namespace), namespace, clock },
    logger: { ...silentLogger, warn: note, error: note } as Logger,
    leaseMs: 1_000,
    ...options,
  });
  const take = (request: Partial<TakeRequest> = {}): Promise<TakenTask[]> =>
    queue.take({ agents: ["coder"], localities: [], max: 1, ...request });
  return {
    queue,
    link,
    clock,
    logged,
    take,
    next: (request) =>
      new Promise((resolve, reject) => {
        let isFound = false;
        const look = async (): Promise<void> => {
          if (isFound) return;
          const [task] = await take(request);
          if (!task) return;
          isFound = true;
          stop();
          resolve(task);
        };
        const stop = queue.onHint(() => void look().catch(reject));
        void look().catch(reject);
      }),
    async close() {
      await queue.close();
      await bus.close();
      await link.close();
    },
  };
}

export function runId(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
}
