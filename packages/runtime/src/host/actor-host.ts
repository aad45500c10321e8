import type { BusMessage, Subscription, TakenTask } from "@troupe/core";
import { ControlMessage, encode, protocolVersion, provideAgent, type RunHolderReply } from "@troupe/core/internal";
import type { Claim } from "./claim/claim.ts";
import { createTakeUp } from "./claim/take-up.ts";
import { createSessionRegistries } from "./companies.ts";
import { decodeMessage } from "./decode-message.ts";
import type { HostDeps } from "./host-deps.ts";
import { startPolling } from "./poll-tasks.ts";
import { Run } from "./run/run.ts";
import { createSlots } from "./run/slots.ts";
import { createRunDeps } from "./run-deps.ts";

/** Tasks taken in one go: enough to fill a host quickly, few enough to leave some for others. */
const takeMax = 32;

/** How often in a lease runs whose lease is uncertain are made sure of. */
const checksPerLease = 4;

export interface ActorHost {
  /** Begins to take tasks. */
  start(): Promise<void>;
  /** Runs that live on this host now. */
  activeRuns(): number;
  /** Those of them that are at work; the others wait for children or for time. */
  busyRuns(): number;
  /** Whether it takes nothing new. */
  isDraining(): boolean;
  /** Takes nothing new, lets effects at work finish within the grace, and leaves every run to others. */
  drain(options: { graceMs: number }): Promise<void>;
  /** The same, and hears nothing afterwards. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Names, or all there are; as a function where it changes: it is asked at every look for tasks. */
export type Served = readonly string[] | "all" | (() => readonly string[] | "all");

export interface ActorHostOptions {
  deps: HostDeps;
  /** How many runs may be at work at once. Waiting for children or people needs no place. @default 64 */
  capacity?: number;
  /** How often to look for tasks without having been told. @default 5000 */
  sweepMs?: number;
  /** Agents whose tasks it takes. @default "all" */
  agents?: Served;
  /** Places whose tasks it takes, besides those that may run anywhere. @default "all" */
  places?: Served;
}

/**
 * A process's share of the company: takes tasks, brings each run to life from its journal, and keeps it going for as
 * long as it is this host's.
 *
 * @example
 * const host = createActorHost({ world });
 * await host.start();
 * // … offer a RunRequest to world.queue …
 * await host.stop({ graceMs: 5_000 });
 */
export function createActorHost(options: ActorHostOptions): ActorHost {
  const { capacity = 64, sweepMs = 5_000, agents = "all", places = "all" } = options;
  const deps = createRunDeps(options.deps);
  const { queue, bus, subjects, clock, logger, leaseMs } = deps;
  const slots = createSlots(capacity);
  const runs = new Map<string, Run>();
  const machine = provideAgent((effect) => runs.get(effect.run)?.beginEffect(effect) ?? (() => {}));
  /** Tasks on their way to a run, by its id. */
  const taking = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  let stopListening = (): void => {};
  let pulling: Promise<void> | null = null;
  let pullAgain = false;

  /** When it was last said that people have said something. */
  let announcedAtMs = Number.NEGATIVE_INFINITY;

  const bring = (task: TakenTask, { entries, inbox }: Claim & { kind: "alive" }): void => {
    const [opened] = entries;
    if (opened?.kind !== "run.opened") throw new Error(`the journal of ${task.run} does not begin with run.opened`);
    const { request, pin } = opened;
    // What was said while the run was being claimed had nobody here to hear it.
    const isNews = announcedAtMs >= (inbox.askedAt?.monotonicMs ?? 0);
    const start = { task, request, pin, entries, inbox: isNews ? { ...inbox, askedAt: null } : inbox };
    const run = new Run(deps, slots, machine, start, () => runs.delete(request.run));
    runs.set(request.run, run);
    run.begin();
  };

  const registryOf = createSessionRegistries(deps.agentSource);
  const { takeUp, isClaiming } = createTakeUp({ deps, slots, registryOf, bring, stopping: stopping.signal });

  const accept = (task: TakenTask): void => {
    const { run } = task;
    if (runs.has(run) || taking.has(run)) {
      // Handed out a second time to the one who holds it: it goes on being held.
      slots.give();
      task.drop();
      return;
    }
    taking.set(
      run,
      takeUp(task).finally(() => taking.delete(run)),
    );
  };

  /** Reserves slots, then takes what is there: no task ever waits for a slot inside this process. */
  const pullOnce = async (): Promise<boolean> => {
    let reserved = 0;
    while (reserved < takeMax && slots.tryTake()) reserved += 1;
    if (reserved === 0) return false;
    let taken = 0;
    try {
      const tasks = await queue.take({ agents: namesIn(agents), localities: namesIn(places), max: reserved });
      taken = tasks.length;
      for (const task of tasks) accept(task);
    } finally {
      for (let i = taken; i < reserved; i += 1) slots.giveBack();
    }
    return taken === reserved;
  };

  const pullAll = async (): Promise<void> => {
    try {
      while (pullAgain && !stopping.signal.aborted) {
        pullAgain = false;
        // As long as every reserved slot found a task there may be more.
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
    // A hint may come just after a look into the queue found nothing: forgotten, it would cost a whole sweep.
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

  /** Runs that only wait begin nothing, and would never find out that their lease has gone. */
  const startChecks = (): (() => void) => {
    if (leaseMs === undefined) return () => {};
    let cancel = (): void => {};
    const check = (): void => {
      for (const run of runs.values()) void run.check();
      cancel = clock.after(leaseMs / checksPerLease, check);
    };
    check();
    return () => cancel();
  };

  const drain = async (graceMs: number): Promise<void> => {
    stopping.abort();
    await pulling;
    await Promise.all(taking.values());
    await Promise.all([...runs.values()].map((run) => run.drain(graceMs)));
  };

  return {
    async start() {
      const subscriptions = await Promise.all([listen("all"), listen(deps.hostId)]);
      slots.onFree(pull);
      const stops = [
        queue.onHint(pull),
        bus.onReconnect?.(() => readInboxes(null)),
        startChecks(),
        startPolling({ deps, sweepMs, look: pull }),
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

function namesIn(served: Served): readonly string[] | "all" {
  return typeof served === "function" ? served() : served;
}
