import { setImmediate as nextRound } from "node:timers/promises";
import type { Entry, RunRequest } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import {
  altered,
  Diverged,
  type Divergence,
  differencesOf,
  differing,
  extra,
  missing,
  notRequested,
} from "./divergence.ts";
import type { RecordedEntry, Recording } from "./recording.ts";
import { createReplayHost, type ReplayHost } from "./replay-host.ts";
import type { ReplaySources } from "./sources.ts";
import { createReplayState, type ReplayState } from "./state.ts";

/** After this many turns of the event loop without activity, no further activity comes. */
const quietRounds = 32;

/**
 * Replays a recording entry by entry. For each entry it triggers the recorded cause (a claim, command, stop or timer),
 * admits the entry that the run then wants to write, and waits until it is written. Only one thing happens at a time, so
 * the result does not depend on the speed of the machine.
 */
export class Replay {
  readonly #recording: Recording;
  readonly #sources: ReplaySources;
  readonly #state: ReplayState;
  readonly #hosts = new Map<string, ReplayHost>();
  #divergence: Divergence | null = null;

  constructor(recording: Recording, sources: ReplaySources) {
    this.#recording = recording;
    this.#sources = sources;
    this.#state = createReplayState(recording, (now, recorded) => this.#check(now, recorded));
  }

  /** Runs the replay. Returns null if every entry came out as recorded. */
  async play(): Promise<Divergence | null> {
    try {
      // All commands are in the inboxes from the start. Each host decides which of them its run can see.
      for (const item of this.#recording.items) {
        if (item.kind === "inbox") await this.#state.journal.appendInbox(item.item);
      }
      for (const item of this.#recording.items) if (item.kind === "entry") await this.#follow(item);
    } catch (thrown) {
      if (!(thrown instanceof Diverged)) throw thrown;
      this.#divergence ??= thrown.divergence;
    } finally {
      for (const host of this.#hosts.values()) host.kill();
    }
    return this.#divergence;
  }

  async #follow(item: RecordedEntry): Promise<void> {
    const { entry } = item;
    if (!item.isIntact) throw new Diverged(altered(this.#agentOf(entry.run), entry));
    // A claim and the commands that it found are written in one append.
    if (this.#isWritten(entry)) return;
    await this.#trigger(item);
    await this.#untilWritten(entry);
  }

  /** Triggers what led to this entry from outside the run. */
  async #trigger({ entry, position }: RecordedEntry): Promise<void> {
    const isClaim = entry.kind === "run.opened" || entry.kind === "run.claimed";
    const pauses = pauseFoundAfter(this.#recording.entriesOf(entry.run), entry.index);
    if (isClaim) return await this.#takeUp(entry, [...this.#commandsWith(entry, position), ...pauses]);
    const host = this.#hosts.get(entry.run);
    host?.clock.set(entry.at);
    host?.allow(pauses);
    if (this.#isPauseDuringEffects(entry)) await this.#happens(() => false);
    if (entry.kind === "inbox.received") host?.announce(entry.seq);
    if (entry.kind === "timer.fired") host?.clock.fireDue();
    if (entry.kind === "run.parked" && entry.reason === "drain") {
      host?.drain();
      host?.clock.fireDue();
    }
  }

  /**
   * Whether effects were running when the run was paused. The replay waits until it has started them: a pause that comes
   * earlier would hold them back, and the run would park before their outcomes.
   */
  #isPauseDuringEffects(entry: Entry): boolean {
    if (entry.kind !== "inbox.received" || entry.item.kind !== "run.paused") return false;
    return pauseFoundAfter(this.#recording.entriesOf(entry.run), entry.index - 1).length === 0;
  }

  /** Starts the run on a new host. The host before it has parked the run or is gone. */
  async #takeUp(entry: Entry, seqs: readonly number[]): Promise<void> {
    const { run } = entry;
    this.#hosts.get(run)?.kill();
    const request = entry.kind === "run.opened" ? await this.#offered(entry) : this.#requestOf(run);
    const host = createReplayHost(this.#state, run, this.#sources);
    this.#hosts.set(run, host);
    host.clock.set(entry.at);
    await host.begin(request, seqs);
  }

  /** The commands that were written together with a claim. */
  #commandsWith(claim: Entry, position: number): number[] {
    const seqs: number[] = [];
    for (const { entry, position: at } of this.#recording.after(position)) {
      const isOfClaim = entry.run === claim.run && entry.at === claim.at && at === position + 1 + seqs.length;
      // Before its first effect a run has no model call that a command could stop.
      if (!isOfClaim || entry.kind !== "inbox.received" || entry.lostUsage) break;
      seqs.push(entry.seq);
    }
    return seqs;
  }

  /** The request of a new run: a root run's comes from the recording, a child's from its parent in the replay. */
  async #offered(opened: Entry & { kind: "run.opened" }): Promise<Uint8Array> {
    const { run, request } = opened;
    if (request.parent === null) return encode(request);
    const isOffered = (): boolean => this.#state.offered.has(run);
    const parent = this.#hosts.get(request.parent.run);
    if (!(await this.#happens(isOffered))) {
      parent?.clock.fireAll();
      await this.#happens(isOffered);
    }
    const bytes = this.#state.offered.get(run);
    if (!bytes) throw new Diverged(notRequested(request.agent, opened));
    return bytes;
  }

  #requestOf(run: string): Uint8Array {
    return this.#state.offered.get(run) ?? encode(this.#openedRequest(run));
  }

  #openedRequest(run: string): RunRequest {
    const [opened] = this.#recording.entriesOf(run);
    if (opened?.kind !== "run.opened") throw new Error(`the recording of run ${run} does not begin with run.opened`);
    return opened.request;
  }

  /** Waits until the entry is written. If nothing happens, timers fire once: a run polls for lost bus messages. */
  async #untilWritten(entry: Entry): Promise<void> {
    let isAdmitted = false;
    const isWritten = (): boolean => {
      if (!isAdmitted) isAdmitted = this.#state.gate.pass(entry.run, entry);
      return this.#isWritten(entry);
    };
    if (await this.#happens(isWritten)) return;
    this.#hosts.get(entry.run)?.clock.fireAll();
    if (await this.#happens(isWritten)) return;
    const waiting = this.#state.gate.waiting(entry.run);
    const unanswered = this.#state.unanswered.get(entry.run) ?? [];
    throw new Diverged(missing(this.#agentOf(entry.run), entry, { waiting, unanswered }));
  }

  /** Waits until the condition is true, or until nothing happens any more. */
  async #happens(isTrue: () => boolean): Promise<boolean> {
    for (let quiet = 0; quiet < quietRounds; ) {
      if (this.#divergence) throw new Diverged(this.#divergence);
      if (isTrue()) return true;
      const { beats } = this.#state;
      await nextRound();
      quiet = beats === this.#state.beats ? quiet + 1 : 0;
    }
    return false;
  }

  #isWritten({ run, index }: Entry): boolean {
    return this.#recording.endOf(run) >= index;
  }

  /** Called with every entry before it is written. Throws at the first divergence. */
  #check(now: Entry, recorded: Entry | undefined): void {
    const agent = this.#agentOf(now.run);
    const differences = recorded ? differencesOf(recorded, now) : [];
    if (recorded && differences.length === 0) return;
    this.#divergence ??= recorded ? differing(agent, recorded, now, differences) : extra(agent, now);
    throw new Diverged(this.#divergence);
  }

  #agentOf(run: string): string {
    const [opened] = this.#recording.entriesOf(run);
    return opened?.kind === "run.opened" ? opened.request.agent : "unknown";
  }
}

/** Kinds of entries that a run can write while it is paused. */
const writtenWhilePaused: ReadonlySet<string> = new Set([
  "inbox.received",
  "child.waiting",
  "child.settled",
  "timer.fired",
]);

/**
 * The pause that the run found right after this entry, before it started another effect. It is recognised by the entries
 * after it: no effect finishes before the run is parked or resumed. The replay must show it now, because later the next
 * effect would already have started.
 */
function pauseFoundAfter(entries: readonly Entry[], index: number): number[] {
  const next = entries[index + 1];
  if (next?.kind !== "inbox.received" || next.item.kind !== "run.paused") return [];
  const end = entries.slice(index + 2).find((entry) => !writtenWhilePaused.has(entry.kind) || isResumed(entry));
  return end === undefined || end.kind === "run.parked" || isResumed(end) ? [next.seq] : [];
}

function isResumed(entry: Entry): boolean {
  return entry.kind === "inbox.received" && entry.item.kind === "run.resumed";
}
