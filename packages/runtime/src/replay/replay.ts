import { setImmediate as nextRound } from "node:timers/promises";
import type { Entry, RunRequest } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import { altered, Diverged, type Divergence, differencesOf, differing, extra, missing, unasked } from "./divergence.ts";
import type { RecordedEntry, Recording } from "./recording.ts";
import { createReplayHost, type ReplayHost } from "./replay-host.ts";
import type { ReplaySources } from "./sources.ts";
import { createReplayState, type ReplayState } from "./state.ts";

/** The event loop goes round so often without anything having happened: then nothing more will. */
const quietRounds = 32;

/**
 * Follows a record item by item: brings about what led to it (a claim, a wish, a stop, a timer), lets through what the
 * run then wants to write, and waits until it is written. Nothing else happens meanwhile, so that it is the same
 * however fast the machine is.
 */
export class Replay {
  readonly #recording: Recording;
  readonly #sources: ReplaySources;
  readonly #stage: ReplayState;
  readonly #hosts = new Map<string, ReplayHost>();
  #divergence: Divergence | null = null;

  constructor(recording: Recording, sources: ReplaySources) {
    this.#recording = recording;
    this.#sources = sources;
    this.#stage = createReplayState(recording, (now, recorded) => this.#check(now, recorded));
  }

  /** Null when all came about as it was recorded. */
  async play(): Promise<Divergence | null> {
    try {
      // In the inboxes from the beginning: which run may read what of them when is told to each.
      for (const item of this.#recording.items) {
        if (item.kind === "inbox") await this.#stage.journal.appendInbox(item.item);
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
    // A claim and the wishes that were found with it are written at once.
    if (this.#isWritten(entry)) return;
    await this.#bringAbout(item);
    await this.#untilWritten(entry);
  }

  /** What came from outside the run, and led to this entry. */
  async #bringAbout({ entry, position }: RecordedEntry): Promise<void> {
    const isClaim = entry.kind === "run.opened" || entry.kind === "run.claimed";
    const held = pauseFoundAfter(this.#recording.entriesOf(entry.run), entry.index);
    if (isClaim) return await this.#takeUp(entry, [...this.#wishesWith(entry, position), ...held]);
    const host = this.#hosts.get(entry.run);
    host?.clock.set(entry.at);
    host?.allow(held);
    if (entry.kind === "inbox.received") host?.tell(entry.seq);
    if (entry.kind === "timer.fired") host?.clock.fireDue();
    if (entry.kind === "run.parked" && entry.reason === "drain") {
      host?.drain();
      host?.clock.fireDue();
    }
  }

  /** A run is taken up by another host than before: that one has parked it, or is gone. */
  async #takeUp(entry: Entry, seqs: readonly number[]): Promise<void> {
    const { run } = entry;
    this.#hosts.get(run)?.kill();
    const request = entry.kind === "run.opened" ? await this.#offered(entry) : this.#requestOf(run);
    const host = createReplayHost(this.#stage, run, this.#sources);
    this.#hosts.set(run, host);
    host.clock.set(entry.at);
    await host.begin(request, seqs);
  }

  /** The wishes that were written together with a claim. */
  #wishesWith(claim: Entry, position: number): number[] {
    const seqs: number[] = [];
    for (const { entry, position: at } of this.#recording.after(position)) {
      const isOfClaim = entry.run === claim.run && entry.at === claim.at && at === position + 1 + seqs.length;
      if (!isOfClaim || entry.kind !== "inbox.received") break;
      seqs.push(entry.seq);
    }
    return seqs;
  }

  /** What a new run is asked for: by a user, as it is recorded, or by its parent, as it asks now. */
  async #offered(opened: Entry & { kind: "run.opened" }): Promise<Uint8Array> {
    const { run, request } = opened;
    if (request.parent === null) return encode(request);
    const isOffered = (): boolean => this.#stage.offered.has(run);
    const parent = this.#hosts.get(request.parent.run);
    if (!(await this.#happens(isOffered))) {
      parent?.clock.fireAll();
      await this.#happens(isOffered);
    }
    const bytes = this.#stage.offered.get(run);
    if (!bytes) throw new Diverged(unasked(request.agent, opened));
    return bytes;
  }

  #requestOf(run: string): Uint8Array {
    return this.#stage.offered.get(run) ?? encode(this.#openedRequest(run));
  }

  #openedRequest(run: string): RunRequest {
    const [opened] = this.#recording.entriesOf(run);
    if (opened?.kind !== "run.opened") throw new Error(`the record of run ${run} does not begin with run.opened`);
    return opened.request;
  }

  /** What the bus may have lost is found when whoever waits looks again: once that was tried, nothing more comes. */
  async #untilWritten(entry: Entry): Promise<void> {
    let isThrough = false;
    const isWritten = (): boolean => {
      if (!isThrough) isThrough = this.#stage.gate.pass(entry.run, entry);
      return this.#isWritten(entry);
    };
    if (await this.#happens(isWritten)) return;
    this.#hosts.get(entry.run)?.clock.fireAll();
    if (await this.#happens(isWritten)) return;
    const waiting = this.#stage.gate.waiting(entry.run);
    const unanswered = this.#stage.unanswered.get(entry.run) ?? [];
    throw new Diverged(missing(this.#agentOf(entry.run), entry, { waiting, unanswered }));
  }

  /** Whether it comes true before nothing happens any more. */
  async #happens(isTrue: () => boolean): Promise<boolean> {
    for (let quiet = 0; quiet < quietRounds; ) {
      if (this.#divergence) throw new Diverged(this.#divergence);
      if (isTrue()) return true;
      const { beats } = this.#stage;
      await nextRound();
      quiet = beats === this.#stage.beats ? quiet + 1 : 0;
    }
    return false;
  }

  #isWritten({ run, index }: Entry): boolean {
    return this.#recording.endOf(run) >= index;
  }

  /** Called with every entry before it is written. */
  #check(now: Entry, recorded: Entry | undefined): void {
    const agent = this.#agentOf(now.run);
    const differences = recorded ? differencesOf(recorded, now) : [];
    if (recorded && differences.length === 0) return;
    this.#divergence ??= recorded ? differing(agent, recorded, now, differences) : extra(agent, now);
    throw new Diverged(this.#divergence);
  }

  #agentOf(run: string): string {
    const [opened] = this.#recording.entriesOf(run);
    return opened?.kind === "run.opened" ? opened.request.agent : "nobody";
  }
}

/** Kinds that follow a wish without anything having been at work. */
const idle: ReadonlySet<string> = new Set(["inbox.received", "child.waiting", "child.settled", "timer.fired"]);

/**
 * The pause that a run found before it began anything after this entry: nothing that was at work then has an outcome
 * before it is parked or resumed. Told of it later, what it is about to begin would not be held.
 */
function pauseFoundAfter(entries: readonly Entry[], index: number): number[] {
  const next = entries[index + 1];
  if (next?.kind !== "inbox.received" || next.item.kind !== "run.paused") return [];
  const end = entries.slice(index + 2).find((entry) => !idle.has(entry.kind) || isResumed(entry));
  return end === undefined || end.kind === "run.parked" || isResumed(end) ? [next.seq] : [];
}

function isResumed(entry: Entry): boolean {
  return entry.kind === "inbox.received" && entry.item.kind === "run.resumed";
}
