import {
  type agentMachine,
  type Entry,
  type EntryBody,
  type RunError,
  RunFailure,
  type RunRequest,
  type RunResponse,
  type TakenTask,
  type ToolContext,
} from "@troupe/core";
import type { CollectedFiles, Moment } from "@troupe/core/internal";
import {
  type AgentContext,
  answeredEffect,
  composeResponse,
  type Effect,
  effectKey,
  failedOutcome,
  isWaitingForPeople,
  type RunSpec,
  toFact,
} from "@troupe/core/internal";
import { type ActorRefFrom, createActor } from "xstate";
import { announceSettled } from "../announce.ts";
import { createFence } from "../claim/fence.ts";
import type { EffectScope } from "../effects/effect.ts";
import { factOf, isWork, needsFolder, perform } from "../effects/perform.ts";
import { offerIfCommandPending } from "../park.ts";
import type { RunDeps } from "../run-deps.ts";
import { RunSlot } from "../run-slot.ts";
import { createTimeSlice } from "../time-slice.ts";
import { type InboxStart, RunInbox } from "./inbox.ts";
import { Mailbox } from "./mailbox.ts";
import { RunEvents } from "./run-events.ts";
import { RunWorkspace } from "./run-workspace.ts";
import type { Slots } from "./slots.ts";

/** A constant, because an abort without a reason builds an exception with a stack each time. */
const unwanted = "no longer wanted";

interface Wanted {
  effect: Effect;
  stop: AbortController;
  /** Begun, and of the kind that needs a slot. */
  working: boolean;
  /** Not begun, because the run is paused. */
  held: boolean;
  /** Found without an outcome after a restart. */
  resumed: boolean;
}

/** What a run is made of when a host takes it up: its journal so far, the new claim included. */
export interface RunStart {
  task: TakenTask;
  request: RunRequest;
  pin: RunSpec;
  /** Everything in the journal; the first is `run.opened`. */
  entries: readonly Entry[];
  inbox: InboxStart;
}

/**
 * One live run on this host: its actor, its mailbox, its effects.
 *
 * Owns: the run's end of the journal. Nobody else of this process appends to it.
 * I1 An outcome is in the journal before anything is begun or said that follows from it.
 * I2 The actor is fed in journal order, one entry at a time, live and replayed alike; live just before they are stored,
 *    so that facts that follow at once (a plan, an end) are stored with what they follow from.
 * I3 During replay no effect is started; afterwards exactly those without an outcome are.
 * I4 Nothing is appended after the terminal entry, and nothing is sent after the run was lost.
 * I5 A run that wants nothing of the world, or may begin nothing, waits for people alone: it leaves memory until one
 *    of them has spoken.
 */
export class Run {
  readonly request: RunRequest;
  readonly #deps: RunDeps;
  readonly #slot: RunSlot;
  readonly #events: RunEvents;
  readonly #task: TakenTask;
  readonly #pin: RunSpec;
  readonly #openedAt: number;
  readonly #takenAt: Moment;
  readonly #actor: ActorRefFrom<typeof agentMachine>;
  readonly #onEnd: () => void;
  readonly #mailbox: Mailbox;
  readonly #inbox: RunInbox;
  readonly #workspace: RunWorkspace;
  readonly #isOurs: () => Promise<boolean>;
  readonly #wanted = new Map<string, Wanted>();
  /** Those of them that may not begin before what they follow from is durable. */
  readonly #withheld = new Map<string, Wanted>();
  readonly #startedCalls = new Map<string, Pick<ToolContext, "plan">>();
  readonly #waitingChildren = new Set<string>();
  /** All that is to be replayed; let go then, since the texts of a thousand waiting runs are megabytes. */
  #entries: readonly Entry[];
  #live = false;
  #ended = false;
  #draining = false;
  /** Newest item of the inbox that is in the journal. */
  #keptSeq = 0;
  #work = 0;
  #idle: (() => void) | null = null;
  #stopBeingUnsure: () => void = () => {};

  /** Takes over the slot that the host took for it. */
  constructor(deps: RunDeps, slots: Slots, machine: typeof agentMachine, start: RunStart, onEnd: () => void) {
    this.#deps = deps;
    this.#slot = new RunSlot(slots);
    this.#events = new RunEvents(deps, start.request);
    this.#task = start.task;
    this.#pin = start.pin;
    this.#openedAt = start.entries[0]?.at ?? 0;
    // What is run again has the clock of its record, which may have moved on before the run was brought to life.
    const wallMs = (deps.replay ? undefined : start.entries.at(-1)?.at) ?? deps.clock.now();
    this.#takenAt = { wallMs, monotonicMs: deps.clock.monotonicMs() };
    this.#entries = start.entries;
    this.#onEnd = onEnd;
    this.request = start.request;
    this.#mailbox = new Mailbox(deps, start.request, {
      now: () => this.#now(),
      feed: (entry) => this.#feed(entry),
      nextFact: () => this.#nextFact(),
      appending: () => this.#lookAhead(),
      delivered: (last) => this.#delivered(last),
      lost: (why) => this.#lose(why),
      failed: (error) => this.#crash(error),
    });
    const { request, inbox } = start;
    this.#inbox = new RunInbox({ deps, request, start: inbox, record: (body) => this.#record(body) });
    const isResumed = start.entries.some(({ kind }) => kind === "run.claimed");
    this.#workspace = new RunWorkspace(deps, start.request, { isResumed });
    this.#isOurs = createFence({
      deps,
      request: start.request,
      task: start.task,
      standing: () => this.#mailbox.standing,
      isOver: () => this.#ended,
      lost: (why) => this.#lose(why),
    });
    this.#actor = createActor(machine, { input: { request: start.request, pin: start.pin, openedAt: this.#openedAt } });
    this.#actor.subscribe({ error: (error) => this.#crash(error) });
  }

  /** Replays what happened, then starts what has no outcome yet. */
  begin(): void {
    const [opened, ...rest] = this.#entries;
    this.#entries = [];
    for (const entry of opened ? [opened, ...rest] : []) this.#mailbox.replayed(entry);
    this.#actor.start();
    for (const entry of rest) this.#feed(entry);
    this.#live = true;
    if (this.#task.lost.aborted) {
      this.#lose("the task was lost");
      return;
    }
    this.#task.lost.addEventListener("abort", () => this.#lose("the task was lost"), { once: true });
    this.#stopBeingUnsure = this.#task.onUncertain(() => void this.check());
    this.#events.show({ kind: "run.claimed" });
    const resumed = rest.some((entry) => entry.kind === "run.claimed");
    this.#events.log(resumed ? "run resumed" : "run started", { attempt: this.request.attempt, epoch: this.epoch });
    // Who waits for it may believe what was true before it was taken up again.
    this.#events.showWaiting(this.#isWaiting(), { anyway: resumed });
    for (const [key, wanted] of [...this.#wanted]) {
      wanted.resumed = resumed;
      this.#launch(key, wanted);
    }
    this.#restIfIdle();
    this.#parkIfWaiting();
  }

  /** The wall clock may jump, by an hour or a month: a run's deadline, and its children's, must not jump with it. */
  #now(): number {
    const { clock, replay } = this.#deps;
    // A record has the only time that there is for its runs.
    if (replay) return clock.now();
    const { wallMs, monotonicMs } = this.#takenAt;
    return Math.floor(wallMs + clock.monotonicMs() - monotonicMs);
  }

  /** Under which it was claimed here. */
  get epoch(): number {
    return this.#mailbox.standing.epoch;
  }

  /** Whether it is at work, and not merely waiting. */
  get isBusy(): boolean {
    return this.#slot.isHeld;
  }

  /** Makes sure that it is still this host's, where that is not certain: one that only waits has nobody else to ask. */
  async check(): Promise<void> {
    if (!this.#task.isCertain()) await this.#isOurs();
  }

  /** Called by the machine's effect actors; what it returns is called when the effect is no longer wanted. */
  beginEffect(effect: Effect): () => void {
    const key = effectKey(effect);
    const wanted = { effect, stop: new AbortController(), working: false, held: false, resumed: false };
    this.#wanted.set(key, wanted);
    if (this.#live) this.#launch(key, wanted);
    return () => this.#forget(key, wanted);
  }

  /** Takes over what people have said about it. */
  readInbox(): Promise<void> {
    return this.#inbox.read();
  }

  /** Starts no new effect, waits for those at work, then parks. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#restIfIdle();
    const cancel = this.#deps.clock.after(graceMs, () => this.#idle?.());
    await idle;
    cancel();
    if (this.#ended) return;
    const reason = this.#waitsForPeople() ? this.#waitReason() : "drain";
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    // With the grace over, its end may be on the way to the journal before this.
    const parked = this.#record({ kind: "run.parked", reason });
    const { clock, leaseMs } = this.#deps;
    // Without a journal to write into, others find it by its lease.
    const giveUp = leaseMs === undefined ? () => {} : clock.after(leaseMs, () => this.#lose("it could not be parked"));
    await parked;
    giveUp();
  }

  /** Starts an effect that has no outcome. Work waits for a slot; whatever is stopped meanwhile is not begun. */
  #launch(key: string, wanted: Wanted): void {
    if (this.#draining) return;
    if (this.#mailbox.isAhead) {
      this.#withheld.set(key, wanted);
      return;
    }
    wanted.working = isWork(wanted.effect.kind);
    if (wanted.working) this.#work += 1;
    queueMicrotask(() => void this.#perform(key, wanted));
  }

  async #perform(key: string, wanted: Wanted): Promise<void> {
    const probed = { run: this.request.run, key };
    try {
      await createTimeSlice();
      if (wanted.working) await this.#slot.take();
      if (wanted.working && !this.#isStale(key, wanted)) await this.#inbox.isRead(wanted.stop.signal);
      if (this.#isStale(key, wanted)) return;
      // The last look before it begins: another host may have the run by now.
      if (!this.#task.isCertain() && !((await this.#isOurs()) && !this.#isStale(key, wanted))) return;
      if (wanted.working && this.#isPaused()) return this.#hold(wanted);
      if (needsFolder(wanted.effect.kind) && !this.#workspace.isOpen && !(await this.#openGround(key, wanted))) return;
      this.#deps.failpoint.at("effect:before", probed);
      const body = await perform(wanted.effect, this.#scopeOf(wanted));
      this.#deps.failpoint.at("effect:after", probed);
      if (body && !this.#isStale(key, wanted)) await this.#record(body);
    } catch (error) {
      if (!this.#isStale(key, wanted)) this.#crash(error);
    }
  }

  /** Nothing is begun before the run's folder is as its journal says. Whether this is still wanted then. */
  async #openGround(key: string, wanted: Wanted): Promise<boolean> {
    try {
      // Whoever began to open it may want it no more.
      while (!this.#workspace.isOpen && !this.#isStale(key, wanted)) await this.#workspace.open(wanted.stop.signal);
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      if (!this.#isStale(key, wanted)) this.#fail(error.runError);
      return false;
    }
    return !this.#isStale(key, wanted) && (this.#task.isCertain() || (await this.#isOurs()));
  }

  #isPaused(): boolean {
    return this.#actor.getSnapshot().context.paused;
  }

  /** The machine wanted it before it heard that the run is paused: nothing new is begun until it is resumed. */
  #hold(wanted: Wanted): void {
    wanted.held = true;
    wanted.working = false;
    this.#work -= 1;
    this.#restIfIdle();
    this.#parkIfWaiting();
  }

  #releaseHeld(): void {
    if (this.#isPaused()) return;
    for (const [key, wanted] of [...this.#wanted]) {
      if (!wanted.held) continue;
      wanted.held = false;
      this.#launch(key, wanted);
    }
  }

  #isStale(key: string, wanted: Wanted): boolean {
    return this.#ended || this.#wanted.get(key) !== wanted;
  }

  #scopeOf({ stop, resumed }: Wanted): EffectScope {
    return {
      deps: this.#deps,
      request: this.request,
      pin: this.#pin,
      openedAt: this.#openedAt,
      folder: this.#workspace.folder,
      bring: () => this.#bring(stop.signal),
      now: () => this.#now(),
      signal: stop.signal,
      resumed,
      started: (step, call) => this.#startedCalls.get(`${step}/${call}`) ?? null,
      wasWaiting: (child) => this.#waitingChildren.has(childPlace({ ...child, attempt: child.request.attempt })),
      isOurs: async () => this.#task.isCertain() || (await this.#isOurs()),
      record: (body) => this.#record(body),
      hint: (event) => {
        if (!this.#ended) this.#actor.send(event);
      },
      show: (event) => {
        if (!this.#ended) this.#events.show(event);
      },
    };
  }

  async #bring(signal: AbortSignal): Promise<CollectedFiles> {
    return this.#deps.replay?.collectedBy(this.request.run) ?? (await this.#workspace.finish(signal));
  }

  /** Puts a fact in the mailbox; resolves when it is durable and the actor has seen it. */
  #record(body: EntryBody): Promise<void> {
    return this.#mailbox.put(body);
  }

  /** A replay writes down what its record has, in that order. */
  #nextFact(): EntryBody | null {
    if (this.#deps.replay) return null;
    for (const { effect } of this.#withheld.values()) {
      const isEnd = effect.kind === "settle" && this.#workspace.isOthers;
      const body: EntryBody | null = isEnd ? { kind: "run.settled", response: effect.response } : factOf(effect);
      if (body) return body;
    }
    return null;
  }

  /** What is to begin as soon as this is durable needs to know what people have said. */
  #lookAhead(): void {
    const isWorkAhead = [...this.#withheld.values()].some(({ effect }) => isWork(effect.kind));
    this.#inbox.lookAhead({ isWorkAhead });
  }

  async #delivered(last: Entry): Promise<void> {
    if (this.#ended) return;
    this.#events.showWaiting(this.#isWaiting());
    for (const [key, wanted] of [...this.#withheld]) {
      this.#withheld.delete(key);
      this.#launch(key, wanted);
    }
    if (last.kind === "run.settled") return this.#finish(last.response);
    if (last.kind === "run.parked") return this.#leave(last.reason);
    this.#restIfIdle();
    this.#parkIfWaiting();
  }

  #feed(entry: Entry): void {
    this.#note(entry);
    const answered = answeredEffect(entry);
    const wanted = answered === null ? undefined : this.#wanted.get(answered);
    if (answered !== null && wanted) this.#forget(answered, wanted);
    this.#actor.send(toFact(entry));
    if (this.#live && entry.kind === "inbox.received") this.#releaseHeld();
  }

  /** Keeps what a resumed effect has to know. */
  #note(entry: Entry): void {
    if (entry.kind === "tool.started") this.#startedCalls.set(`${entry.step}/${entry.call}`, entry);
    if (entry.kind === "tool.finished" && entry.outcome.folderRef) this.#workspace.note(entry.outcome.folderRef);
    if (entry.kind === "inbox.received") this.#keptSeq = Math.max(this.#keptSeq, entry.seq);
    if (entry.kind !== "child.waiting") return;
    if (entry.waiting) this.#waitingChildren.add(childPlace(entry));
    else this.#waitingChildren.delete(childPlace(entry));
  }

  /** Whether its clock stands still. */
  #isWaiting(): boolean {
    return isWaitingForPeople(this.#actor.getSnapshot().context);
  }

  #forget(key: string, wanted: Wanted): void {
    if (this.#wanted.get(key) !== wanted) return;
    this.#wanted.delete(key);
    this.#withheld.delete(key);
    wanted.stop.abort(unwanted);
    if (wanted.working) this.#work -= 1;
  }

  /** A run that only waits gives its slot back. */
  #restIfIdle(): void {
    if (this.#work > 0) return;
    this.#slot.giveBack();
    if (this.#mailbox.isEmpty) this.#idle?.();
  }

  /** With nothing left that the machine wants of the world, only a person's word can move it on. */
  #waitsForPeople(): boolean {
    if (!this.#mailbox.isEmpty) return false;
    for (const { held } of this.#wanted.values()) if (!held) return false;
    return true;
  }

  #waitReason(): "pause" | "approval" {
    return this.#isPaused() ? "pause" : "approval";
  }

  #parkIfWaiting(): void {
    if (this.#ended || this.#draining || !this.#waitsForPeople()) return;
    void this.#record({ kind: "run.parked", reason: this.#waitReason() });
  }

  /** Out of memory, with its task given back: whoever has something to say to it offers it again. */
  async #leave(reason: "drain" | "approval" | "pause"): Promise<void> {
    const keptSeq = this.#keptSeq;
    this.#events.log("run parked", { reason });
    this.#end();
    const again = reason === "drain" && this.#deps.leaseMs !== undefined;
    await this.#tellQueue(() => this.#task.park(again ? { again } : undefined));
    if (reason !== "drain") await offerIfCommandPending(this.#deps, this.request, keptSeq);
  }

  async #finish(response: RunResponse): Promise<void> {
    const { failpoint } = this.#deps;
    const probed = { run: response.runId, key: "settle" };
    this.#end();
    this.#events.log("run settled", { status: response.status, durationMs: response.metrics.durationMs });
    failpoint.at("settle:before", probed);
    announceSettled(this.#deps, response);
    failpoint.at("settle:after", probed);
    failpoint.at("ack:before", probed);
    await this.#tellQueue(() => this.#task.finish());
    failpoint.at("ack:after", probed);
    await this.#workspace.remove();
  }

  /** What the queue does not hear it hands out again: whoever gets it finds in the journal what is left to do. */
  async #tellQueue(act: () => Promise<void>): Promise<void> {
    const { session, run } = this.request;
    await act().catch((err: unknown) => this.#deps.logger.warn({ session, run, err }, "the queue could not be told"));
  }

  /** A bug in a machine or an effect ends this run, with its response, and no other. */
  #crash(error: unknown): void {
    const { session, run } = this.request;
    if (this.#ended) return;
    this.#deps.logger.error({ session, run, err: error }, "run crashed");
    const message = `the run crashed: ${error instanceof Error ? error.message : String(error)}`;
    this.#fail({ type: "crashed", message, tool: null, recoverable: true, retryAfterMs: null });
  }

  /** Ends the run with what it knows so far: it cannot go on. */
  #fail(error: RunError): void {
    const { session, run } = this.request;
    this.#deps.logger.warn({ session, run, type: error.type, message: error.message }, "run fails");
    const context: AgentContext = this.#actor.getSnapshot().context;
    const response = composeResponse(context, failedOutcome(error));
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    void this.#record({ kind: "run.settled", response });
  }

  #lose(why: string): void {
    if (this.#ended) return;
    const { session, run } = this.request;
    this.#deps.logger.warn({ session, run, why }, "run lost");
    this.#task.drop();
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    this.#stopBeingUnsure();
    this.#mailbox.close();
    this.#actor.stop();
    this.#slot.end();
    this.#idle?.();
    this.#onEnd();
  }
}

/** The name of one attempt of a child within its parent's run. */
function childPlace({
  step,
  call,
  item,
  attempt,
}: {
  step: number;
  call: number;
  item: number;
  attempt: number;
}): string {
  return `${step}/${call}/${item}/${attempt}`;
}
