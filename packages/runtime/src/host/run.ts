import {
  type AgentContext,
  type agentMachine,
  answeredEffect,
  composeResponse,
  type Effect,
  type Entry,
  type EntryBody,
  effectKey,
  encode,
  failed,
  type LiveEvent,
  type Pin,
  protocolVersion,
  type RunRequest,
  type RunResponse,
  type TakenTask,
  toFact,
} from "@troupe/core";
import { type ActorRefFrom, createActor } from "xstate";
import { announceSettled } from "./announce.ts";
import { sealChain, type WrittenEntry } from "./chain.ts";
import type { EffectScope, LiveDetail } from "./effects/effect.ts";
import { isWork, perform } from "./effects/index.ts";
import { concernsRun } from "./inbox.ts";
import type { Slots } from "./slots.ts";
import type { World } from "./world.ts";

/** A journal write that fails (a full disk) is tried again after this long, for as long as it takes. */
const appendRetryMs = 1_000;

/** A constant, because an abort without a reason builds an exception with a stack each time. */
const unwanted = "no longer wanted";

interface Wanted {
  effect: Effect;
  stop: AbortController;
  /** Begun, and of the kind that needs a slot. */
  working: boolean;
}

interface Mail {
  body: EntryBody;
  stored: () => void;
}

/** What a run is made of when a host takes it up: its journal so far, the new claim included. */
export interface RunStart {
  task: TakenTask;
  request: RunRequest;
  pin: Pin;
  /** Everything in the journal; the first is `run.opened`. */
  entries: readonly Entry[];
  inboxSeq: number;
}

/**
 * One live run on this host: its actor, its mailbox, its effects.
 *
 * Owns: the run's end of the journal. Nobody else of this process appends to it.
 * I1 An outcome is in the journal before the actor sees it.
 * I2 The actor is fed in journal order, one entry at a time, live and replayed alike.
 * I3 During replay no effect is started; afterwards exactly those without an outcome are.
 * I4 Nothing is appended after the terminal entry, and nothing is sent after the run was lost.
 */
export class Run {
  readonly request: RunRequest;
  readonly #world: World;
  readonly #slots: Slots;
  readonly #start: RunStart;
  readonly #actor: ActorRefFrom<typeof agentMachine>;
  readonly #onEnd: () => void;
  readonly #wanted = new Map<string, Wanted>();
  readonly #startedCalls = new Set<string>();
  #mailbox: Mail[] = [];
  #pumping = false;
  #live = false;
  #ended = false;
  #draining = false;
  #lastIndex = -1;
  #lastHash: string | null = null;
  #epoch = 1;
  #inboxSeq: number;
  #pausedMs = 0;
  #lastAt: number;
  #work = 0;
  #slot: "none" | "waiting" | "held" = "held";
  #slotTaken: Promise<void> = Promise.resolve();
  #idle: (() => void) | null = null;

  /** Takes over the slot that the host took for it. */
  constructor(world: World, slots: Slots, machine: typeof agentMachine, start: RunStart, onEnd: () => void) {
    this.#world = world;
    this.#slots = slots;
    this.#start = start;
    this.#onEnd = onEnd;
    this.request = start.request;
    this.#inboxSeq = start.inboxSeq;
    this.#lastAt = this.#openedAt;
    this.#actor = createActor(machine, { input: { request: start.request, pin: start.pin, openedAt: this.#openedAt } });
    this.#actor.subscribe({ error: (error) => this.#crash(error) });
  }

  get #openedAt(): number {
    return this.#start.entries[0]?.at ?? 0;
  }

  /** Replays what happened, then starts what has no outcome yet. */
  begin(): void {
    const [opened, ...rest] = this.#start.entries;
    if (opened) this.#note(opened);
    this.#actor.start();
    for (const entry of rest) this.#feed(entry);
    this.#live = true;
    this.#start.task.lost.addEventListener("abort", () => this.#lose("the task was lost"), { once: true });
    this.#show({ kind: "run.claimed" });
    const resumed = rest.some((entry) => entry.kind === "run.claimed");
    this.#log(resumed ? "run resumed" : "run started", { attempt: this.request.attempt, epoch: this.#epoch });
    for (const [key, wanted] of [...this.#wanted]) this.#launch(key, wanted, resumed);
    this.#restIfIdle();
  }

  /** Called by the machine's effect actors; what it returns is called when the effect is no longer wanted. */
  beginEffect(effect: Effect): () => void {
    const key = effectKey(effect);
    const wanted = { effect, stop: new AbortController(), working: false };
    this.#wanted.set(key, wanted);
    if (this.#live) this.#launch(key, wanted, false);
    return () => this.#forget(key, wanted);
  }

  /** Takes over what is new in the session's inbox and concerns this run. */
  async readInbox(): Promise<void> {
    const items = await this.#world.journal.readInbox(this.request.session, this.#inboxSeq);
    for (const { seq, item } of items) {
      if (seq <= this.#inboxSeq) continue;
      this.#inboxSeq = seq;
      if (concernsRun(item, this.request.run)) await this.#record({ kind: "inbox.received", seq, item });
    }
  }

  /** Starts no new effect, waits for those at work, then parks. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#restIfIdle();
    const cancel = this.#world.clock.after(graceMs, () => this.#idle?.());
    await idle;
    cancel();
    if (this.#ended) return;
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    await this.#record({ kind: "run.parked", reason: "drain" });
    // With the grace over, its end may have been on the way to the journal before this.
    if (this.#ended) return;
    this.#log("run parked");
    this.#end();
    await this.#start.task.park();
  }

  /** Starts an effect that has no outcome. Work waits for a slot; whatever is stopped meanwhile is not begun. */
  #launch(key: string, wanted: Wanted, resumed: boolean): void {
    if (this.#draining) return;
    wanted.working = isWork(wanted.effect.kind);
    if (wanted.working) this.#work += 1;
    queueMicrotask(() => void this.#perform(key, wanted, resumed));
  }

  async #perform(key: string, wanted: Wanted, resumed: boolean): Promise<void> {
    const probed = { run: this.request.run, key };
    try {
      if (wanted.working) await this.#takeSlot();
      if (this.#isStale(key, wanted)) return;
      this.#world.probe.at("effect:before", probed);
      const body = await perform(wanted.effect, this.#scopeOf(wanted, resumed));
      this.#world.probe.at("effect:after", probed);
      if (body && !this.#isStale(key, wanted)) await this.#record(body);
    } catch (error) {
      if (!this.#isStale(key, wanted)) this.#crash(error);
    }
  }

  #isStale(key: string, wanted: Wanted): boolean {
    return this.#ended || this.#wanted.get(key) !== wanted;
  }

  #scopeOf(wanted: Wanted, resumed: boolean): EffectScope {
    return {
      world: this.#world,
      request: this.request,
      pin: this.#start.pin,
      openedAt: this.#openedAt,
      pausedMs: this.#pausedMs,
      signal: wanted.stop.signal,
      resumed,
      wasStarted: (step, call) => this.#startedCalls.has(`${step}/${call}`),
      record: (body) => this.#record(body),
      readInbox: () => this.readInbox(),
      hint: (event) => {
        if (!this.#ended) this.#actor.send(event);
      },
      show: (event) => this.#show(event),
    };
  }

  /** Puts a fact in the mailbox; resolves when it is durable and the actor has seen it. */
  #record(body: EntryBody): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#mailbox.push({ body, stored: resolve });
      this.#pump().catch((error: unknown) => this.#crash(error));
    });
  }

  /** The one writer of this run: whatever waits in the mailbox is one append. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      await null; // outcomes of the same turn go together
      while (this.#mailbox.length > 0 && !this.#ended) await this.#deliver(this.#takeMail());
    } finally {
      // In the same turn as the look that found the mailbox empty: mail that came between would lie there for ever.
      this.#pumping = false;
    }
  }

  async #deliver(mails: readonly Mail[]): Promise<void> {
    const entries = this.#seal(mails);
    const last = entries.at(-1);
    const stored = await this.#append(entries, last?.kind === "run.settled");
    if (!stored || this.#ended) return;
    for (const [i, entry] of entries.entries()) {
      this.#feed(entry);
      mails[i]?.stored();
    }
    if (last?.kind === "run.settled") await this.#finish(last.response);
    else this.#restIfIdle();
  }

  /** Everything that waits, up to a terminal fact: nothing may follow that. */
  #takeMail(): Mail[] {
    const end = this.#mailbox.findIndex(({ body }) => body.kind === "run.settled");
    return this.#mailbox.splice(0, end === -1 ? this.#mailbox.length : end + 1);
  }

  #seal(mails: readonly Mail[]): WrittenEntry[] {
    const { session, run } = this.request;
    const writer = { session, run, epoch: this.#epoch, host: this.#world.hostId, at: this.#world.clock.now() };
    const end = { index: this.#lastIndex, hash: this.#lastHash };
    return sealChain(
      writer,
      end,
      mails.map(({ body }) => body),
    );
  }

  async #append(entries: WrittenEntry[], terminal: boolean): Promise<boolean> {
    const { session, run } = this.request;
    const probed = { run, key: entries.map((entry) => answeredEffect(entry) ?? entry.kind).join(" ") };
    while (!this.#ended) {
      this.#world.probe.at("append:before", probed);
      try {
        const result = await this.#world.journal.append({ session, run, after: this.#lastIndex, entries, terminal });
        this.#world.probe.at("append:after", probed);
        if (!result.ok) this.#lose(`another writer is at index ${result.lastIndex}`);
        return result.ok;
      } catch (error) {
        this.#world.logger.error({ session, run, err: error }, "journal write failed; trying again");
        await new Promise<void>((resolve) => this.#world.clock.after(appendRetryMs, resolve));
      }
    }
    return false;
  }

  #feed(entry: Entry): void {
    this.#note(entry);
    const answered = answeredEffect(entry);
    const wanted = answered === null ? undefined : this.#wanted.get(answered);
    if (answered !== null && wanted) this.#forget(answered, wanted);
    this.#actor.send(toFact(entry));
  }

  /** Keeps what the next append and a resumed effect have to know. */
  #note(entry: Entry): void {
    this.#lastIndex = entry.index;
    this.#lastHash = entry.hash;
    this.#epoch = entry.epoch;
    if (entry.kind === "run.claimed") this.#pausedMs += Math.max(0, entry.at - this.#lastAt);
    if (entry.kind === "tool.started") this.#startedCalls.add(`${entry.step}/${entry.call}`);
    if (entry.kind === "inbox.received") this.#inboxSeq = Math.max(this.#inboxSeq, entry.seq);
    this.#lastAt = Math.max(this.#lastAt, entry.at);
  }

  #forget(key: string, wanted: Wanted): void {
    if (this.#wanted.get(key) !== wanted) return;
    this.#wanted.delete(key);
    wanted.stop.abort(unwanted);
    if (wanted.working) this.#work -= 1;
  }

  #takeSlot(): Promise<void> {
    if (this.#slot !== "none") return this.#slotTaken;
    this.#slot = "waiting";
    this.#slotTaken = this.#slots.take().then(() => {
      this.#slot = "held";
      if (this.#ended) this.#giveSlot();
    });
    return this.#slotTaken;
  }

  #giveSlot(): void {
    if (this.#slot !== "held") return;
    this.#slot = "none";
    this.#slots.give();
  }

  /** A run that only waits gives its slot back. */
  #restIfIdle(): void {
    if (this.#work > 0) return;
    this.#giveSlot();
    if (this.#mailbox.length === 0) this.#idle?.();
  }

  async #finish(response: RunResponse): Promise<void> {
    const { probe } = this.#world;
    const probed = { run: response.runId, key: "settle" };
    this.#end();
    this.#log("run settled", { status: response.status, durationMs: response.metrics.durationMs });
    probe.at("settle:before", probed);
    announceSettled(this.#world, response);
    probe.at("settle:after", probed);
    probe.at("ack:before", probed);
    await this.#start.task.finish();
    probe.at("ack:after", probed);
  }

  /** A bug in a machine or an effect ends this run, with its response, and no other. */
  #crash(error: unknown): void {
    const { session, run } = this.request;
    if (this.#ended) return;
    this.#world.logger.error({ session, run, err: error }, "run crashed");
    const context: AgentContext = this.#actor.getSnapshot().context;
    const message = `the run crashed: ${error instanceof Error ? error.message : String(error)}`;
    const verdict = failed({ type: "crashed", message, tool: null, recoverable: true, retryAfterMs: null });
    const response = composeResponse(context, verdict);
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    void this.#record({ kind: "run.settled", response });
  }

  #lose(why: string): void {
    if (this.#ended) return;
    const { session, run } = this.request;
    this.#world.logger.warn({ session, run, why }, "run lost");
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const [key, wanted] of [...this.#wanted]) this.#forget(key, wanted);
    for (const { stored } of this.#mailbox) stored();
    this.#mailbox = [];
    this.#actor.stop();
    this.#giveSlot();
    this.#idle?.();
    this.#onEnd();
  }

  #log(message: string, details: object = {}): void {
    const { session, run, agent } = this.request;
    this.#world.logger.info({ session, run, agent, ...details }, message);
  }

  #show(detail: LiveDetail): void {
    if (this.#ended) return;
    const { session, run, agent } = this.request;
    const event = { v: protocolVersion, session, run, agent, ...detail } as LiveEvent;
    const bytes = encode(event);
    if (bytes.byteLength > this.#world.bus.payloadBytesMax) return; // it comes whole with the outcome
    this.#world.bus.publish(this.#world.subjects.live(session, run), bytes);
  }
}
