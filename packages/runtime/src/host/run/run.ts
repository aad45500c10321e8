import type { agentMachine, Entry, EntryBody, RunError, RunRequest, RunResponse, TakenTask, Usage } from "@troupe/core";
import {
  type AgentContext,
  composeResponse,
  type Effect,
  estimateUsage,
  failedOutcome,
  isWaitingForPeople,
  type Moment,
  type RunSpec,
  requiredDelegation,
  toFact,
} from "@troupe/core/internal";
import { type ActorRefFrom, createActor } from "xstate";
import { createRunObservers, type RunObservers } from "../../observers/run-observers.ts";
import { createFence } from "../claim/fence.ts";
import type { RunDeps } from "../run-deps.ts";
import { type InboxStart, RunInbox } from "./inbox.ts";
import { stopsModelCall, withoutLostUsage } from "./lost-usage.ts";
import { Mailbox } from "./mailbox.ts";
import { offerIfCommandPending } from "./park.ts";
import { type EffectsOwner, RunEffects } from "./run-effects.ts";
import { RunEvents } from "./run-events.ts";
import { RunWorkspace } from "./run-workspace.ts";
import { announceSettled } from "./settled.ts";
import { RunSlot, type Slots } from "./slots.ts";

/** Everything that a host knows of a run that it has claimed. */
export interface RunStart {
  task: TakenTask;
  request: RunRequest;
  pin: RunSpec;
  /** The whole journal, the new claim included; the first entry is `run.opened`. */
  entries: readonly Entry[];
  inbox: InboxStart;
}

type ParkReason = "drain" | "approval" | "pause";

/** The states of a run on this host. `parked`, `settled` and `lost` are final: the run then leaves memory. */
type RunState =
  /** Replays its journal. The entries leave memory afterwards: those of a thousand runs are megabytes. */
  | { kind: "opening"; entries: readonly Entry[] }
  | { kind: "running" }
  /** Starts no effects and parks once it is idle. */
  | { kind: "draining"; onIdle: () => void }
  | { kind: "parked"; reason: ParkReason }
  | { kind: "settled"; response: RunResponse }
  /** Another host has the run, or this host can no longer know. */
  | { kind: "lost"; reason: string };

type FinalState = Extract<RunState, { kind: "parked" | "settled" | "lost" }>;

const transitions: { readonly [From in RunState["kind"]]: readonly RunState["kind"][] } = {
  opening: ["running", "lost"],
  running: ["draining", "parked", "settled", "lost"],
  // A second drain may have a shorter grace period.
  draining: ["draining", "parked", "settled", "lost"],
  parked: [],
  settled: [],
  lost: [],
};

/**
 * One run in this host's memory: the lifecycle of its actor.
 *
 * Owns the end of the run's journal: no other code in this process appends to it.
 * I1 An outcome is in the journal before any effect or message follows from it.
 * I2 The actor is fed in journal order, one entry at a time, in replay and live. Live entries are fed just before they
 *    are stored, so that the entries that follow at once (a plan, an end) go into the same append.
 * I3 Replay starts no effect. Afterwards, every effect without an outcome is started.
 * I4 Nothing is appended after the terminal entry, and nothing is sent after the run was lost.
 * I5 A run with no startable effects is waiting for a person. It is parked until a command arrives.
 */
export class Run {
  readonly request: RunRequest;
  readonly #deps: RunDeps;
  readonly #task: TakenTask;
  readonly #onEnd: () => void;
  readonly #actor: ActorRefFrom<typeof agentMachine>;
  readonly #slot: RunSlot;
  readonly #events: RunEvents;
  readonly #mailbox: Mailbox;
  readonly #inbox: RunInbox;
  readonly #workspace: RunWorkspace;
  readonly #effects: RunEffects;
  readonly #observers: RunObservers | null;
  readonly #fence: () => Promise<boolean>;
  readonly #claimedAt: Moment;
  #state: RunState;
  /** Newest command in the journal. */
  #inboxSeq = 0;
  #stopWatchingLease: () => void = () => {};

  /** Owns the slot that the host acquired for the run. */
  constructor(deps: RunDeps, slots: Slots, machine: typeof agentMachine, start: RunStart, onEnd: () => void) {
    const { request, pin, entries, task } = start;
    const openedAt = entries[0]?.at ?? 0;
    this.request = request;
    this.#deps = deps;
    this.#task = task;
    this.#onEnd = onEnd;
    this.#state = { kind: "opening", entries };
    // A replay has the clock of the record, which may have moved on before the run was claimed.
    const wallMs = (deps.replay ? undefined : entries.at(-1)?.at) ?? deps.clock.now();
    this.#claimedAt = { wallMs, monotonicMs: deps.clock.monotonicMs() };
    this.#slot = new RunSlot(slots);
    this.#events = new RunEvents(deps, request);
    this.#mailbox = new Mailbox(deps, request, {
      now: () => this.#now(),
      complete: (body) => this.#withLostUsage(body),
      feed: (entry) => this.#feed(entry),
      nextEntry: () => this.#effects.nextEntry(),
      appending: () => this.#inbox.readAhead({ isWorkAhead: this.#effects.isWorkAhead }),
      delivered: (last, stored) => this.#delivered(last, stored),
      lost: (reason) => this.#lose(reason),
      failed: (error) => this.#crash(error),
    });
    this.#inbox = new RunInbox({ deps, request, start: start.inbox, record: (body) => this.#mailbox.put(body) });
    const isResumed = entries.some(({ kind }) => kind === "run.claimed");
    this.#workspace = new RunWorkspace(deps, request, { isResumed });
    this.#fence = createFence({
      deps,
      request,
      task,
      head: () => this.#mailbox.head,
      isEnded: () => this.#isEnded,
      lost: (reason) => this.#lose(reason),
    });
    this.#effects = new RunEffects({
      deps,
      request,
      pin,
      openedAt,
      slot: this.#slot,
      inbox: this.#inbox,
      workspace: this.#workspace,
      owner: this.#effectsOwner(),
    });
    this.#observers = createRunObservers(deps, {
      request,
      specs: pin.definition.observers ?? [],
      isDelegating: requiredDelegation({ request, pin }) !== null,
      workspace: () => (this.#workspace.isOpen || this.#workspace.isShared ? this.#workspace.folder.path : null),
    });
    this.#actor = createActor(machine, { input: { request, pin, openedAt } });
    this.#actor.subscribe({ error: (error) => this.#crash(error) });
  }

  /** The epoch of this host's claim. */
  get epoch(): number {
    return this.#mailbox.head.epoch;
  }

  /** Whether the run holds a slot. A run that waits does not. */
  get isBusy(): boolean {
    return this.#slot.isHeld;
  }

  /** Replays the journal, then starts the effects without an outcome. */
  begin(): void {
    if (this.#state.kind !== "opening") throw new Error(`run ${this.request.run} has begun already`);
    const [opened, ...rest] = this.#state.entries;
    for (const entry of opened ? [opened, ...rest] : []) this.#mailbox.replayed(entry);
    this.#actor.start();
    for (const entry of rest) this.#feed(entry);
    if (this.#task.lost.aborted) {
      this.#lose("the task was lost");
      return;
    }
    this.#moveTo({ kind: "running" });
    this.#task.lost.addEventListener("abort", () => this.#lose("the task was lost"), { once: true });
    this.#stopWatchingLease = this.#task.onUncertain(() => void this.checkLease());
    this.#events.publish({ kind: "run.claimed" });
    // A host that died may not have observed the newest calls.
    for (const entry of rest) this.#observers?.note(entry);
    const resumed = rest.some((entry) => entry.kind === "run.claimed");
    this.#events.log(resumed ? "run resumed" : "run started", { attempt: this.request.attempt, epoch: this.epoch });
    // Watchers may still have the answer of the previous host.
    this.#events.publishWaiting(this.#isWaiting(), { always: resumed });
    this.#effects.startAll({ resumed });
    this.#restIfIdle();
    this.#parkIfWaiting();
  }

  /** Resolves when the calls so far were observed. The end of the run does not wait for it. */
  async observed(): Promise<void> {
    await this.#observers?.idle();
  }

  /** Called by the machine's effect actors. Returns the function that cancels the effect. */
  beginEffect(effect: Effect): () => void {
    return this.#effects.track(effect);
  }

  /** Records the new commands in the session's inbox. */
  readInbox(): Promise<void> {
    return this.#inbox.read();
  }

  /** Reads the journal if the lease is uncertain, and ends the run if another host has claimed it. */
  async checkLease(): Promise<void> {
    if (!this.#task.isCertain()) await this.#fence();
  }

  /** Starts no new effects, waits at most the grace period for the running ones, then parks. */
  async drain(graceMs: number): Promise<void> {
    if (this.#isEnded) return;
    const before = this.#state;
    const idle = Promise.withResolvers<void>();
    const onIdle = (): void => {
      if (before.kind === "draining") before.onIdle();
      idle.resolve();
    };
    this.#moveTo({ kind: "draining", onIdle });
    this.#restIfIdle();
    const cancel = this.#deps.clock.after(graceMs, idle.resolve);
    await idle.promise;
    cancel();
    if (this.#isEnded) return;
    const reason = this.#isWaitingForPerson() ? this.#waitReason() : "drain";
    const lostUsage = this.#lostUsage();
    this.#effects.cancelAll();
    // If the grace period has passed, the terminal entry may be ahead of this one.
    const parked = this.#mailbox.put({ kind: "run.parked", reason, ...(reason === "drain" ? { lostUsage } : {}) });
    const { clock, leaseMs } = this.#deps;
    // If the journal cannot be written, another host finds the run after its lease.
    const giveUp = leaseMs === undefined ? () => {} : clock.after(leaseMs, () => this.#lose("it could not be parked"));
    await parked;
    giveUp();
  }

  get #isEnded(): boolean {
    return transitions[this.#state.kind].length === 0;
  }

  #moveTo(state: RunState): void {
    const from = this.#state.kind;
    if (!transitions[from].includes(state.kind)) {
      throw new Error(`run ${this.request.run} cannot go from ${from} to ${state.kind}`);
    }
    this.#state = state;
  }

  #effectsOwner(): EffectsOwner {
    return {
      now: () => this.#now(),
      mayStart: () => this.#state.kind === "running",
      isEnded: () => this.#isEnded,
      isPaused: () => this.#isPaused(),
      isAhead: () => this.#mailbox.isAhead,
      isHeld: () => this.#task.isCertain() || this.#fence(),
      record: (body) => this.#mailbox.put(body),
      hint: (event) => {
        if (!this.#isEnded) this.#actor.send(event);
      },
      publish: (event) => {
        if (!this.#isEnded) this.#events.publish(event);
      },
      effectPaused: () => {
        this.#restIfIdle();
        this.#parkIfWaiting();
      },
      fail: (error) => this.#fail(error),
      crash: (error) => this.#crash(error),
    };
  }

  /** Counts from the claim by the monotonic clock: a jump of the wall clock must not move any deadline. */
  #now(): number {
    const { clock, replay } = this.#deps;
    if (replay) return clock.now();
    const { wallMs, monotonicMs } = this.#claimedAt;
    return Math.floor(wallMs + clock.monotonicMs() - monotonicMs);
  }

  /** Adds the estimated usage of the running model call to an entry that stops it. */
  #withLostUsage(body: EntryBody): EntryBody {
    if (!stopsModelCall(body)) return body;
    const { callReserve, pin } = this.#actor.getSnapshot().context;
    if (!pin.booksLostCalls) return withoutLostUsage(body);
    if (callReserve === null) return { ...body, lostUsage: null };
    return body.kind === "run.parked" ? body : { ...body, lostUsage: this.#lostUsage() };
  }

  /** Null if no model call has started. */
  #lostUsage(): Usage | null {
    const { contextTokens, pin } = this.#actor.getSnapshot().context;
    const progress = this.#effects.callProgress;
    return progress && estimateUsage({ contextTokens, price: pin.price }, progress);
  }

  #feed(entry: Entry): void {
    if (entry.kind === "inbox.received") this.#inboxSeq = Math.max(this.#inboxSeq, entry.seq);
    this.#effects.note(entry);
    this.#actor.send(toFact(entry));
    if (this.#state.kind !== "opening" && entry.kind === "inbox.received") this.#effects.startPaused();
  }

  async #delivered(last: Entry, stored: readonly Entry[]): Promise<void> {
    if (this.#isEnded) return;
    for (const entry of stored) {
      this.#events.trace(entry);
      this.#observers?.note(entry);
    }
    this.#events.publishWaiting(this.#isWaiting());
    this.#effects.startWithheld();
    if (last.kind === "run.settled") return this.#settle(last.response);
    if (last.kind === "run.parked") return this.#park(last.reason);
    this.#restIfIdle();
    this.#parkIfWaiting();
  }

  #isPaused(): boolean {
    return this.#actor.getSnapshot().context.paused;
  }

  /** Whether the run's clock stands still, because the run waits for a person. */
  #isWaiting(): boolean {
    return isWaitingForPeople(this.#actor.getSnapshot().context);
  }

  /** Releases the slot of a run that only waits. */
  #restIfIdle(): void {
    if (!this.#effects.isIdle) return;
    this.#slot.release();
    if (this.#mailbox.isEmpty && this.#state.kind === "draining") this.#state.onIdle();
  }

  /** Whether only a command can move the run on (I5). */
  #isWaitingForPerson(): boolean {
    return this.#mailbox.isEmpty && this.#effects.areAllPaused;
  }

  #waitReason(): ParkReason {
    return this.#isPaused() ? "pause" : "approval";
  }

  #parkIfWaiting(): void {
    if (this.#state.kind !== "running" || !this.#isWaitingForPerson()) return;
    void this.#mailbox.put({ kind: "run.parked", reason: this.#waitReason() });
  }

  /** Leaves memory and gives the task back. The next command offers the run again. */
  async #park(reason: ParkReason): Promise<void> {
    const inboxSeq = this.#inboxSeq;
    this.#events.log("run parked", { reason });
    this.#end({ kind: "parked", reason });
    const again = reason === "drain" && this.#deps.leaseMs !== undefined;
    await this.#tellQueue(() => this.#task.park(again ? { again } : undefined));
    if (reason !== "drain") await offerIfCommandPending(this.#deps, this.request, inboxSeq);
  }

  async #settle(response: RunResponse): Promise<void> {
    const { failpoint } = this.#deps;
    const detail = { run: response.runId, key: "settle" };
    this.#end({ kind: "settled", response });
    this.#events.log("run settled", { status: response.status, durationMs: response.metrics.durationMs });
    failpoint.at("settle:before", detail);
    announceSettled(this.#deps, response);
    failpoint.at("settle:after", detail);
    failpoint.at("ack:before", detail);
    await this.#tellQueue(() => this.#task.finish());
    failpoint.at("ack:after", detail);
    await this.#observers?.idle();
    await this.#workspace.remove();
  }

  /** If the queue misses the message, it delivers the task again, and the next host finds the state in the journal. */
  async #tellQueue(action: () => Promise<void>): Promise<void> {
    const { session, run } = this.request;
    await action().catch((err: unknown) =>
      this.#deps.logger.warn({ session, run, err }, "the queue could not be told"),
    );
  }

  /** A bug in a machine or an effect ends this run with a response, and no other run. */
  #crash(error: unknown): void {
    const { session, run } = this.request;
    if (this.#isEnded) return;
    this.#deps.logger.error({ session, run, err: error }, "run crashed");
    const message = `the run crashed: ${error instanceof Error ? error.message : String(error)}`;
    this.#fail({ type: "crashed", message, tool: null, recoverable: true, retryAfterMs: null });
  }

  /** Ends the run with an error and the results it has so far. */
  #fail(error: RunError): void {
    const { session, run } = this.request;
    this.#deps.logger.warn({ session, run, type: error.type, message: error.message }, "run fails");
    const context: AgentContext = this.#actor.getSnapshot().context;
    const body: EntryBody = { kind: "run.settled", response: composeResponse(context, failedOutcome(error)) };
    this.#effects.cancelAll();
    void this.#mailbox.put(body);
  }

  #lose(reason: string): void {
    if (this.#isEnded) return;
    const { session, run } = this.request;
    this.#deps.logger.warn({ session, run, why: reason }, "run lost");
    this.#task.drop();
    this.#end({ kind: "lost", reason });
  }

  #end(state: FinalState): void {
    const before = this.#state;
    this.#moveTo(state);
    this.#effects.cancelAll();
    this.#stopWatchingLease();
    this.#mailbox.close();
    this.#actor.stop();
    this.#slot.close();
    if (before.kind === "draining") before.onIdle();
    this.#onEnd();
  }
}
