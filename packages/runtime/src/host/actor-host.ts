import {
  type BusMessage,
  ControlMessage,
  decode,
  provideAgent,
  RunRequest,
  type Subscription,
  type TakenTask,
  TroupeError,
} from "@troupe/core";
import { announceSettled } from "./announce.ts";
import { type Claim, claimRun } from "./claim.ts";
import { createSessionCompanies } from "./companies.ts";
import { heard } from "./heard.ts";
import { Run } from "./run.ts";
import { withSharedInboxReads } from "./shared-reads.ts";
import { createSlots } from "./slots.ts";
import type { World } from "./world.ts";

/** Tasks taken in one go: enough to fill a host quickly, few enough to leave some for others. */
const takeMax = 32;

/** When a task could not be taken up for a reason that may pass, it is offered again after this long. */
const retakeMs = 1_000;

export interface ActorHost {
  /** Begins to take tasks. */
  start(): Promise<void>;
  /** Runs that live on this host now. */
  activeRuns(): number;
  /** Takes nothing new, lets effects at work finish within the grace, parks every run. */
  stop(options: { graceMs: number }): Promise<void>;
}

export interface ActorHostOptions {
  world: World;
  /** How many runs may be at work at once. Waiting for children or people needs no place. @default 64 */
  capacity?: number;
  /** How often to look for tasks without having been told. @default 5000 */
  sweepMs?: number;
}

/**
 * A process's share of the company: takes tasks, brings each run to life from its journal, and keeps it going.
 *
 * @example
 * const host = createActorHost({ world });
 * await host.start();
 * // … offer a RunRequest to world.queue …
 * await host.stop({ graceMs: 5_000 });
 */
export function createActorHost({ world: given, capacity = 64, sweepMs = 5_000 }: ActorHostOptions): ActorHost {
  const world = { ...given, journal: withSharedInboxReads(given.journal) };
  const { queue, bus, subjects, clock, logger, probe } = world;
  const slots = createSlots(capacity);
  const runs = new Map<string, Run>();
  const companyOf = createSessionCompanies(world.companies);
  const machine = provideAgent((effect) => runs.get(effect.run)?.beginEffect(effect) ?? (() => {}));
  const taking = new Set<Promise<void>>();
  let stopListening = (): void => {};
  let stopping = false;
  let pulling = false;
  let pullAgain = false;

  /** Reserves slots, then takes what is there: no task ever waits for a slot inside this process. */
  const pullOnce = async (): Promise<boolean> => {
    let reserved = 0;
    while (reserved < takeMax && slots.tryTake()) reserved += 1;
    if (reserved === 0) return false;
    const tasks = await queue.take({ agents: "all", places: "all", max: reserved });
    for (const task of tasks) {
      const work = takeUp(task);
      taking.add(work);
      void work.finally(() => taking.delete(work));
    }
    for (let i = tasks.length; i < reserved; i += 1) slots.giveBack();
    return tasks.length === reserved;
  };

  const pull = async (): Promise<void> => {
    // A hint may come just after a look into the queue found nothing: forgotten, it would cost a whole sweep.
    pullAgain = true;
    if (pulling) return;
    pulling = true;
    try {
      while (pullAgain && !stopping) {
        pullAgain = false;
        // As long as every reserved slot found a task there may be more.
        if (await pullOnce()) pullAgain = true;
      }
    } catch (error) {
      logger.error({ err: error }, "tasks could not be taken");
    } finally {
      pulling = false;
    }
  };

  /** Whatever becomes of the task, the slot reserved for it ends up with its run or is given back. */
  const takeUp = async (task: TakenTask): Promise<void> => {
    let request: RunRequest | null = null;
    try {
      request = requestIn(task);
      probe.at("claim:before", { run: task.run, key: "claim" });
      const { session, workspace } = request;
      const claim = await claimRun(world, request, () => companyOf(session, workspace.path));
      probe.at("claim:after", { run: task.run, key: "claim" });
      if (claim.kind === "alive") return bring(task, claim);
      slots.give();
      if (claim.kind === "settled") {
        const { runId: run, agent, status } = claim.response;
        logger.info({ session, run, agent, status }, "run settled without being taken up");
        announceSettled(world, claim.response);
        await task.finish();
      }
    } catch (error) {
      logger.error({ run: task.run, err: error }, "task could not be taken up");
      slots.give();
      await task.park();
      if (request && !isInvalid(error)) retakeLater(task, request);
    }
  };

  /** A journal that cannot be read now may be readable soon. */
  const retakeLater = ({ run, bytes }: TakenTask, { agent }: RunRequest): void => {
    clock.after(retakeMs, () => {
      if (stopping) return;
      queue
        .offer({ run, agent, place: "any", bytes })
        .catch((err: unknown) => logger.error({ run, err }, "offer failed"));
    });
  };

  const bring = (task: TakenTask, { entries, inboxSeq }: Claim & { kind: "alive" }): void => {
    const [opened] = entries;
    if (opened?.kind !== "run.opened") throw new Error(`the journal of ${task.run} does not begin with run.opened`);
    const { request, pin } = opened;
    const run = new Run(world, slots, machine, { task, request, pin, entries, inboxSeq }, () =>
      runs.delete(request.run),
    );
    runs.set(request.run, run);
    run.begin();
  };

  const onControl = (message: BusMessage): void => {
    const session = heard(ControlMessage, message, world)?.session;
    for (const run of runs.values()) {
      if (run.request.session !== session) continue;
      run.readInbox().catch((error: unknown) => logger.error({ session, err: error }, "inbox could not be read"));
    }
  };

  const listen = (host: string): Promise<Subscription> => bus.subscribe(subjects.control(host), onControl);

  return {
    async start() {
      const subscriptions = await Promise.all([listen("all"), listen(world.hostId)]);
      const stopHints = queue.onHint(() => void pull());
      slots.onFree(() => void pull());
      let stopSweep = (): void => {};
      const sweep = (): void => {
        void pull();
        stopSweep = clock.after(sweepMs, sweep);
      };
      sweep();
      stopListening = () => {
        stopHints();
        stopSweep();
        for (const subscription of subscriptions) subscription.unsubscribe();
      };
    },
    activeRuns: () => runs.size,
    async stop({ graceMs }) {
      stopping = true;
      stopListening();
      await Promise.all(taking);
      await Promise.all([...runs.values()].map((run) => run.drain(graceMs)));
    },
  };
}

function requestIn(task: TakenTask): RunRequest {
  const request = decode(RunRequest, task.bytes, "task");
  if (request.run === task.run) return request;
  throw new TroupeError("INVALID_MESSAGE", `the task of run ${task.run} asks for run ${request.run}`);
}

/** What does not fit its schema now never will. */
function isInvalid(error: unknown): boolean {
  return TroupeError.is(error) && error.code === "INVALID_MESSAGE";
}
