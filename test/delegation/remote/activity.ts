import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bus, Journal, TakenTask, TaskQueue } from "@troupe/core";

/** Counts the activity of a process at its ports, to detect when it is idle. */
export interface Activity {
  /** Everything that was begun or heard so far. */
  readonly count: number;
  /**
   * Tasks that this process offered, minus tasks that it took. The sum over all processes is the number of untaken
   * tasks.
   */
  readonly untaken: number;
  /** Resolves when nothing that was begun is still under way, and nothing follows from it in this process. */
  idle(): Promise<void>;
  counted<T extends Journal | Bus>(port: T): T;
  countedQueue(queue: TaskQueue): TaskQueue;
}

/**
 * One turn of the event loop runs all code that waits only for other code. Hosts yield between slices of work, so one
 * event may need several turns.
 */
const quietTurns = 24;

export async function turns(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn += 1) await nextTurn();
}

type Listener = (...args: unknown[]) => unknown;

export function createActivity(): Activity {
  let count = 0;
  let atWork = 0;
  let untaken = 0;
  let wake = (): void => {};

  const track = async <T>(work: Promise<T>): Promise<T> => {
    count += 1;
    atWork += 1;
    try {
      return await work;
    } finally {
      atWork -= 1;
      if (atWork === 0) wake();
    }
  };

  /** Counts a method as active until its promise settles, and counts each callback. */
  const counted = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const countedArgs = args.map((arg) => (typeof arg === "function" ? countedListener(arg as Listener) : arg));
          const result: unknown = Reflect.apply(value, target, countedArgs);
          return result instanceof Promise ? track(result) : result;
        };
      },
    });

  const countedListener =
    (listener: Listener): Listener =>
    (...args) => {
      count += 1;
      return listener(...args);
    };

  const countedTask = (task: TakenTask): TakenTask => {
    const port = counted(task);
    return new Proxy(port, {
      get: (_, name) =>
        name !== "park"
          ? Reflect.get(port, name)
          : async (options?: Parameters<TakenTask["park"]>[0]) => {
              await port.park(options);
              if (options?.again) untaken += 1;
            },
    });
  };

  return {
    get count() {
      return count;
    },
    get untaken() {
      return untaken;
    },
    countedQueue(queue) {
      const port = counted(queue);
      return {
        ...port,
        async offer(task) {
          const answer = await port.offer(task);
          if (answer === "offered") untaken += 1;
          return answer;
        },
        async take(request) {
          const tasks = await port.take(request);
          untaken -= tasks.length;
          return tasks.map(countedTask);
        },
      };
    },
    async idle() {
      for (await turns(); atWork > 0; await turns()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    counted,
  };
}
