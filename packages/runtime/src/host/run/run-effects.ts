import {
  type CallProgress,
  type Entry,
  type EntryBody,
  type RunError,
  RunFailure,
  type RunRequest,
  type ToolContext,
} from "@troupe/core";
import type { CollectedFiles } from "@troupe/core/internal";
import { answeredEffect, type Effect, effectKey, type RunSpec } from "@troupe/core/internal";
import type { EffectScope } from "../effects/effect.ts";
import { isWork, needsFolder } from "../effects/effect.ts";
import { immediateEntry, perform } from "../effects/perform.ts";
import type { RunDeps } from "../run-deps.ts";
import { waitForTimeSlice } from "../time-slice.ts";
import type { RunInbox } from "./inbox.ts";
import type { RunWorkspace } from "./run-workspace.ts";
import type { RunSlot } from "./slots.ts";
import { waitForSpace } from "./wait-for-space.ts";

/** A constant, because an abort without a reason creates an error with a stack each time. */
const abortReason = "no longer wanted";

const modelCalls: ReadonlySet<Effect["kind"]> = new Set(["assessIntent", "callModel", "summarise", "compact"]);

/** For stopped tool calls. Less than a parent waits for the responses of its children when it ends. */
const stoppedCallsMs = 4_000;

const noProgress: CallProgress = { usage: null, outputCharacters: 0 };

interface TrackedEffect {
  effect: Effect;
  abort: AbortController;
  /** Started, and it needs the run's slot. */
  working: boolean;
  /** The pause of the run keeps it from starting. */
  paused: boolean;
  /** Tracked from the journal: an earlier host may have started it. */
  resumed: boolean;
  /** Of a tool call that runs: resolves when its outcome was recorded or dropped. */
  ended: Promise<void> | null;
  /** The machine stopped the tool call while it ran. */
  isStopped: boolean;
  /** Of a model call: the part of its answer that has arrived. Null until it has started. */
  progress: CallProgress | null;
}

/** The run as its effects see it. */
export interface EffectsOwner {
  now(): number;
  /** Whether effects may start: not during replay, while draining, or after the end. */
  mayStart(): boolean;
  isEnded(): boolean;
  isPaused(): boolean;
  /** Whether the machine has seen entries that are not durable yet. */
  isAhead(): boolean;
  /** Whether this host still holds the run: true at once while the lease is certain, else after a read of the journal. */
  isHeld(): true | Promise<boolean>;
  record(body: EntryBody): Promise<void>;
  hint: EffectScope["hint"];
  publish: EffectScope["publish"];
  /** An effect that is paused, or waits for space, stopped working: the run may now release its slot or park. */
  effectPaused(): void;
  /** Ends the run with this error. */
  fail(error: RunError): void;
  /** A bug. Ends the run too. */
  crash(error: unknown): void;
}

export interface RunEffectsOptions {
  deps: RunDeps;
  request: RunRequest;
  pin: RunSpec;
  openedAt: number;
  slot: RunSlot;
  inbox: RunInbox;
  workspace: RunWorkspace;
  owner: EffectsOwner;
}

/**
 * The effects of one run. It starts the effects that the machine wants, and cancels them when the machine leaves the
 * state that wanted them.
 *
 * I1 An effect starts only after the entries that it follows from are durable.
 * I2 An effect that needs the slot starts only while the run is held, not paused, and its inbox is read.
 * I3 The outcome of a cancelled effect is dropped, except that of a tool call that has changed files: a run that ends
 *    waits a moment for it.
 */
export class RunEffects {
  readonly #options: RunEffectsOptions;
  readonly #tracked = new Map<string, TrackedEffect>();
  /** Effects that wait until the entries they follow from are durable. */
  readonly #withheld = new Map<string, TrackedEffect>();
  readonly #startedCalls = new Map<string, Pick<ToolContext, "plan">>();
  readonly #waitingChildren = new Set<string>();
  /** Tool calls that the machine stopped and that still run, such as a process that ends in its own time. */
  readonly #stopped = new Set<TrackedEffect>();
  #working = 0;

  constructor(options: RunEffectsOptions) {
    this.#options = options;
  }

  /** Whether no effect needs the slot. */
  get isIdle(): boolean {
    return this.#working === 0;
  }

  /** Whether no effect can start by itself: the run has none, or the pause withholds all of them. */
  get areAllPaused(): boolean {
    for (const { paused } of this.#tracked.values()) if (!paused) return false;
    return true;
  }

  /** Whether work starts as soon as the fed entries are durable. */
  get isWorkAhead(): boolean {
    return [...this.#withheld.values()].some(({ effect }) => isWork(effect.kind));
  }

  /** The progress of the running model call; null if none has started. A run makes one at a time. */
  get callProgress(): CallProgress | null {
    for (const { progress } of this.#tracked.values()) if (progress) return progress;
    return null;
  }

  /** Tracks an effect that the machine wants and starts it if possible. Returns the function that cancels it. */
  track(effect: Effect): () => void {
    const key = effectKey(effect);
    const tracked: TrackedEffect = {
      effect,
      abort: new AbortController(),
      working: false,
      paused: false,
      resumed: false,
      ended: null,
      isStopped: false,
      progress: null,
    };
    this.#tracked.set(key, tracked);
    this.#start(key, tracked);
    return () => this.#stop(key, tracked);
  }

  /** Starts the effects that replay has left without an outcome. */
  startAll({ resumed }: { resumed: boolean }): void {
    for (const [key, tracked] of [...this.#tracked]) {
      tracked.resumed = resumed;
      this.#start(key, tracked);
    }
  }

  /** Starts the effects whose entries are durable now. */
  startWithheld(): void {
    for (const [key, tracked] of [...this.#withheld]) {
      this.#withheld.delete(key);
      this.#start(key, tracked);
    }
  }

  /** Starts the effects that the pause held back, unless the run is still paused. */
  startPaused(): void {
    if (this.#options.owner.isPaused()) return;
    for (const [key, tracked] of [...this.#tracked]) {
      if (!tracked.paused) continue;
      tracked.paused = false;
      this.#start(key, tracked);
    }
  }

  cancelAll(): void {
    for (const [key, tracked] of [...this.#tracked]) this.#cancel(key, tracked);
  }

  /** Keeps the facts of an entry that later effects need, and cancels the effect whose outcome it is. */
  note(entry: Entry): void {
    this.#remember(entry);
    const answered = answeredEffect(entry);
    const tracked = answered === null ? undefined : this.#tracked.get(answered);
    if (answered !== null && tracked) this.#cancel(answered, tracked);
  }

  /** The entry of a withheld effect that needs no I/O; null if there is none. A replay takes it from the record. */
  nextEntry(): EntryBody | null {
    const { deps, workspace } = this.#options;
    if (deps.replay) return null;
    for (const { effect } of this.#withheld.values()) {
      const isEnd = effect.kind === "settle" && workspace.isShared && this.#stopped.size === 0;
      const body: EntryBody | null = isEnd
        ? { kind: "run.settled", response: effect.response }
        : immediateEntry(effect);
      if (body) return body;
    }
    return null;
  }

  #remember(entry: Entry): void {
    if (entry.kind === "tool.started") this.#startedCalls.set(`${entry.step}/${entry.call}`, entry);
    if (entry.kind === "tool.finished" && entry.outcome.folderRef) {
      this.#options.workspace.noteFolderRef(entry.outcome.folderRef);
    }
    if (entry.kind !== "child.waiting") return;
    if (entry.waiting) this.#waitingChildren.add(childKey(entry));
    else this.#waitingChildren.delete(childKey(entry));
  }

  #start(key: string, tracked: TrackedEffect): void {
    const { owner } = this.#options;
    if (!owner.mayStart()) return;
    if (owner.isAhead()) {
      this.#withheld.set(key, tracked);
      return;
    }
    tracked.working = isWork(tracked.effect.kind);
    if (tracked.working) this.#working += 1;
    queueMicrotask(() => void this.#perform(key, tracked));
  }

  async #perform(key: string, tracked: TrackedEffect): Promise<void> {
    const { deps, request, workspace, owner } = this.#options;
    try {
      await waitForTimeSlice();
      if (tracked.effect.kind === "settle") await this.#stoppedCalls();
      if (deps.diskSpace && !(await this.#waitForSpace(key, tracked))) return;
      await this.#acquireSlot(key, tracked);
      if (this.#isStale(key, tracked)) return;
      if (!(await this.#isStillHeld(key, tracked))) return;
      if (tracked.working && owner.isPaused()) return this.#holdBack(tracked);
      if (needsFolder(tracked.effect.kind) && !workspace.isOpen && !(await this.#openWorkspace(key, tracked))) return;
      // The last check before the start: another host may have claimed the run by now. While the lease is certain, no code
      // of other runs comes between the check and the start.
      const held = this.#isStillHeld(key, tracked);
      if (held !== true && !(await held)) return;
      deps.failpoint.at("effect:before", { run: request.run, key });
      if (modelCalls.has(tracked.effect.kind)) tracked.progress = noProgress;
      const done = this.#performNow(key, tracked);
      if (tracked.effect.kind === "callTool") tracked.ended = done;
      await done;
    } catch (error) {
      if (!this.#isStale(key, tracked)) owner.crash(error);
    }
  }

  async #performNow(key: string, tracked: TrackedEffect): Promise<void> {
    const { deps, request, owner } = this.#options;
    const body = await perform(tracked.effect, this.#scopeOf(tracked));
    deps.failpoint.at("effect:after", { run: request.run, key });
    const isLateOutcome = tracked.isStopped && body?.kind === "tool.finished" && !owner.isEnded();
    if (body && (isLateOutcome || !this.#isStale(key, tracked))) await owner.record(body);
  }

  /** Resolves when the stopped tool calls have ended, or after a moment: the end of a run never hangs on a process. */
  async #stoppedCalls(): Promise<void> {
    const { deps } = this.#options;
    const ended = Promise.allSettled(Array.from(this.#stopped, (tracked) => tracked.ended)).then(() => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = deps.clock.after(stoppedCallsMs, resolve);
    await Promise.race([ended, promise]);
    cancel();
  }

  /** Acquires the slot for work, and reads the inbox before it starts. */
  async #acquireSlot(key: string, tracked: TrackedEffect): Promise<void> {
    const { slot, inbox } = this.#options;
    if (tracked.working) await slot.acquire();
    if (tracked.working && !this.#isStale(key, tracked)) await inbox.ensureRead(tracked.abort.signal);
  }

  /** Waits for space on the disk, without a slot. Returns whether the effect may still start. */
  async #waitForSpace(key: string, tracked: TrackedEffect): Promise<boolean> {
    const { deps, pin, request, workspace, owner } = this.#options;
    const { effect, abort } = tracked;
    const hasWaited = await waitForSpace(effect, {
      ...{ deps, pin, publish: (event) => owner.publish(event), signal: abort.signal },
      folder: workspace.isOpen ? workspace.folder.path : request.workspace.path,
      opensFolder: !workspace.isShared && !workspace.isOpen,
      onWait: () => this.#rest(tracked),
    });
    if (!hasWaited) return true;
    // A host that drains leaves the effect to the next host.
    if (this.#isStale(key, tracked) || !owner.mayStart()) return false;
    tracked.working = isWork(effect.kind);
    if (tracked.working) this.#working += 1;
    return true;
  }

  /** The effect needs no slot for now. */
  #rest(tracked: TrackedEffect): void {
    if (!tracked.working) return;
    tracked.working = false;
    this.#working -= 1;
    this.#options.owner.effectPaused();
  }

  /** Opens the run's folder. Returns whether the effect is still wanted. */
  async #openWorkspace(key: string, tracked: TrackedEffect): Promise<boolean> {
    const { workspace, owner } = this.#options;
    try {
      // Another effect may have begun to open the folder and been cancelled meanwhile.
      while (!workspace.isOpen && !this.#isStale(key, tracked)) await workspace.open(tracked.abort.signal);
    } catch (error) {
      if (!(error instanceof RunFailure)) throw error;
      if (!this.#isStale(key, tracked)) owner.fail(error.runError);
      return false;
    }
    return !this.#isStale(key, tracked);
  }

  /** Whether the effect is still wanted and the run still held; true at once while the lease is certain. */
  #isStillHeld(key: string, tracked: TrackedEffect): true | Promise<boolean> {
    const held = this.#options.owner.isHeld();
    return held === true || held.then((isHeld) => isHeld && !this.#isStale(key, tracked));
  }

  /** The machine wanted the effect before it was paused. The effect starts when the run is resumed. */
  #holdBack(tracked: TrackedEffect): void {
    tracked.paused = true;
    this.#rest(tracked);
  }

  #isStale(key: string, tracked: TrackedEffect): boolean {
    return this.#options.owner.isEnded() || this.#tracked.get(key) !== tracked;
  }

  /** The machine no longer wants the effect. */
  #stop(key: string, tracked: TrackedEffect): void {
    if (this.#tracked.get(key) === tracked && tracked.ended) {
      tracked.isStopped = true;
      this.#stopped.add(tracked);
      const forget = (): void => void this.#stopped.delete(tracked);
      tracked.ended.then(forget, forget);
    }
    this.#cancel(key, tracked);
  }

  #cancel(key: string, tracked: TrackedEffect): void {
    if (this.#tracked.get(key) !== tracked) return;
    this.#tracked.delete(key);
    this.#withheld.delete(key);
    tracked.abort.abort(abortReason);
    if (tracked.working) this.#working -= 1;
  }

  #scopeOf(tracked: TrackedEffect): EffectScope {
    const { resumed } = tracked;
    const { signal } = tracked.abort;
    const { deps, request, pin, openedAt, workspace, owner } = this.#options;
    return {
      deps,
      request,
      pin,
      openedAt,
      folder: workspace.folder,
      collect: () => this.#collect(signal),
      now: () => owner.now(),
      signal,
      resumed,
      startedCall: (step, call) => this.#startedCalls.get(`${step}/${call}`) ?? null,
      wasWaiting: (child) => this.#waitingChildren.has(childKey({ ...child, attempt: child.request.attempt })),
      isHeld: () => owner.isHeld(),
      record: (body) => owner.record(body),
      noteProgress: (progress) => {
        tracked.progress = progress ?? noProgress;
      },
      hint: (event) => owner.hint(event),
      publish: (event) => owner.publish(event),
    };
  }

  async #collect(signal: AbortSignal): Promise<CollectedFiles> {
    const { deps, request, workspace } = this.#options;
    return deps.replay?.collectedBy(request.run) ?? (await workspace.collect(signal));
  }
}

/** Identifies one attempt of a child within its parent run. */
function childKey(child: { step: number; call: number; item: number; attempt: number }): string {
  return `${child.step}/${child.call}/${child.item}/${child.attempt}`;
}
