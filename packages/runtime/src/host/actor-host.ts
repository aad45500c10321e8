import type { BusMessage, Subscription, TakenTask } from "@troupe/core";
import { ControlMessage, encode, protocolVersion, provideAgent, type RunHolderReply } from "@troupe/core/internal";
import type { Claim } from "./claim/claim-run.ts";
import { createTaskClaimer } from "./claim/claim-task.ts";
import { decodeMessage } from "./decode-message.ts";
import type { HostDeps } from "./host-deps.ts";
import { startPolling } from "./poll-tasks.ts";
import { Run } from "./run/run.ts";
import { createSlots } from "./run/slots.ts";
import { createRunDeps } from "./run-deps.ts";

/** Tasks taken at once: enough to fill a host quickly, few enough to leave some for other hosts. */
const takeMax = 32;

/** How often per lease the host checks the runs whose lease is uncertain. */
const checksPerLease = 4;

/** Runs agents: takes their tasks from the queue and keeps their runs alive. */
export interface ActorHost {
  /** Starts to take tasks. */
  start(): Promise<void>;
  /** Number of runs in this host's memory. */
  activeRuns(): number;
  /** Number of runs that call a model or a tool now. The other runs wait for children, people or time. */
  busyRuns(): number;
  /** Whether the host takes no new tasks. */
  isDraining(): boolean;
  /** Takes no new tasks, lets running effects finish within the grace period, and leaves every run to other hosts. */
  drain(options: { graceMs: number }): Promise<void>;
  /** Drains the host, then stops listening to the bus. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Names, or `"all"`. A function is called before every read of the queue. */
export type Served = readonly string[] | "all" | (() => readonly string[] | "all");

export interface ActorHostOptions {
  deps: HostDeps;
  /** How many runs may call models and tools at once. A run that waits does not count. @default 64 */
  capacity?: number;
  /** How often the queue is polled without a hint. @default 5000 */
  pollMs?: number;
  /** Agents whose tasks the host takes. @default "all" */
  agents?: Served;
  /** Localities whose tasks the host takes, besides tasks that may run anywhere. @default "all" */
  localities?: Served;
}

/**
 * Creates the host of a process. It takes tasks, restores each run from its journal, and runs it while this host holds
 * the run's lease.
 *
 * @example
 * const host = createActorHost({ deps });
 * await host.start();
 * await offerRun(deps, request);
 * await host.stop({ graceMs: 5_000 });
 */
export function createActorHost(options: ActorHostOptions): ActorHost {
  const { capacity = 64, pollMs = 5_000, agents = "all", localities = "all" } = options;
  const deps = createRunDeps(options.deps);
  const { queue, bus, subjects, clock, logger, leaseMs } = deps;
  const slots = createSlots(capacity);
  const runs = new Map<string, Run>();
  const machine = provideAgent((effect) => runs.get(effect.run)?.beginEffect(effect) ?? (() => {}));
  /** Tasks that are being claimed, by the id of their run. */
  const claiming = new Map<string, Promise<void>>();
  /** Observers of ended runs that are still at work. */
  const observing = new Set<Promise<void>>();
  const stopping = new AbortController();
  let stopListening = (): void => {};
  let pulling: Promise<void> | null = null;
  let pullAgain = false;

  /** Time of the last inbox announcement. */
  let announcedAtMs = Number.NEGATIVE_INFINITY;

  const startRun = (task: TakenTask, { entries, inbox }: Claim & { kind: "claimed" }): void => {
    const [opened] = entries;
    if (opened?.kind !== "run.opened") throw new Error(`the journal of ${task.run} does not begin with run.opened`);
    const { request, pin } = opened;
    // A command that arrived during the claim was announced before this host had the run.
    const hasNews = announcedAtMs >= (inbox.readAt?.monotonicMs ?? 0);
    const start = { task, request, pin, entries, inbox: hasNews ? { ...inbox, readAt: null } : inbox };
    const run = new Run(deps, slots, machine, start, () => {
      runs.delete(request.run);
      const observed = run.observed().finally(() => observing.delete(observed));
      observing.add(observed);
    });
    runs.set(request.run, run);
    run.begin();
  };

  const { claimTask, isClaiming } = createTaskClaimer({ deps, slots, startRun, stopping: stopping.signal });

  const accept = (task: TakenTask): void => {
    const { run } = task;
    if (runs.has(run) || claiming.has(run)) {
      // The queue delivered the task again to the host that holds it. The first delivery stays valid.
      slots.release();
      task.drop();
      return;
    }
    claiming.set(
      run,
      claimTask(task).finally(() => claiming.delete(run)),
    );
  };

  /** Reserves slots first, then takes at most as many tasks: no task waits for a slot inside this process. */
  const pullOnce = async (): Promise<boolean> => {
    let reserved = 0;
    while (reserved < takeMax && slots.tryAcquire()) reserved += 1;
    if (reserved === 0) return false;
    let received = 0;
    try {
      const tasks = await queue.take({ agents: namesOf(agents), localities: namesOf(localities), max: reserved });
      received = tasks.length;
      for (const task of tasks) accept(task);
    } finally {
      for (let i = received; i < reserved; i += 1) slots.returnUnused();
    }
    return received === reserved;
  };

  const pullAll = async (): Promise<void> => {
    try {
      while (pullAgain && !stopping.signal.aborted) {
        pullAgain = false;
        // If every reserved slot found a task, the queue may have more.
        if (await pullOnce()) pullAgain = true;
      }
    } catch (error) {
      logger.error({ err: error }, "tasks could not be taken");
    } finally {
      pulling = null;
    }
  };

  const pull = (): void => {
    if (stopping.signal.aborted) return;
    // A hint may arrive just after a read found no task. Without this flag it would be lost until the next poll.
    pullAgain = true;
    pulling ??= pullAll();
  };

  const readInboxes = (session: string | null): void => {
    announcedAtMs = clock.monotonicMs();
    for (const run of runs.values()) {
      if (session !== null && run.request.session !== session) continue;
      run.readInbox().catch((err: unknown) => logger.error({ session, err }, "inbox could not be read"));
    }
  };

  const holds = (run: string, epoch: number): boolean => (runs.get(run)?.epoch ?? 0) >= epoch || isClaiming(run);

  const onControl = (message: BusMessage): void => {
    const control = decodeMessage(ControlMessage, message, deps);
    if (control?.kind === "inbox.announced") readInboxes(control.session);
    if (control?.kind !== "run.asked") return;
    const { run, epoch } = control;
    const answer: RunHolderReply = { v: protocolVersion, run, holds: holds(run, epoch) };
    message.respond(encode(answer));
  };

  const listen = (host: string): Promise<Subscription> => bus.subscribe(subjects.control(host), onControl);

  /** A waiting run starts no effects, so without this check it would not notice the loss of its lease. */
  const startLeaseChecks = (): (() => void) => {
    if (leaseMs === undefined) return () => {};
    let cancel = (): void => {};
    const check = (): void => {
      for (const run of runs.values()) void run.checkLease();
      cancel = clock.after(leaseMs / checksPerLease, check);
    };
    check();
    return () => cancel();
  };

  const untilObserved = async (graceMs: number): Promise<void> => {
    if (observing.size === 0) return;
    const grace = Promise.withResolvers<void>();
    const cancel = clock.after(graceMs, grace.resolve);
    await Promise.race([Promise.all(observing), grace.promise]);
    cancel();
  };

  const drain = async (graceMs: number): Promise<void> => {
    stopping.abort();
    await pulling;
    await Promise.all(claiming.values());
    await Promise.all([...runs.values()].map((run) => run.drain(graceMs)));
    await untilObserved(graceMs);
  };

  return {
    async start() {
      const subscriptions = await Promise.all([listen("all"), listen(deps.hostId)]);
      slots.onFree(pull);
      const stops = [
        queue.onHint(pull),
        bus.onReconnect?.(() => readInboxes(null)),
        startLeaseChecks(),
        startPolling({ deps, pollMs, poll: pull }),
        ...subscriptions.map((subscription) => () => subscription.unsubscribe()),
      ];
      stopListening = () => {
        for (const stop of stops) stop?.();
      };
    },
    activeRuns: () => runs.size,
    busyRuns: () => [...runs.values()].filter((run) => run.isBusy).length,
    isDraining: () => stopping.signal.aborted,
    drain: ({ graceMs }) => drain(graceMs),
    async stop({ graceMs }) {
      await drain(graceMs);
      stopListening();
    },
  };
}

function namesOf(served: Served): readonly string[] | "all" {
  return typeof served === "function" ? served() : served;
}
