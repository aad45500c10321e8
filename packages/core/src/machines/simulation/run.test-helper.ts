import { createActor } from "xstate";
import type { RunSpec } from "../../protocol/entry.ts";
import type { RunRequest } from "../../protocol/request.ts";
import type { RunResponse } from "../../protocol/response.ts";
import type { AgentContext } from "../agent/context.ts";
import { answeredEffect, type Effect, effectKey } from "../effects.ts";
import type { RunFact } from "../facts.ts";
import type { FactBody } from "../machine-driver.test-helper.ts";
import { provideAgent } from "../provide-agent.ts";

/** Receives the effects of a run. */
export interface RunListener {
  /** An effect starts. Not called while a journal is replayed. */
  started(run: SimulatedRun, effect: Effect): void;
  /** An effect ends without an outcome: the machine stopped it, or its host crashed. */
  stopped(run: SimulatedRun, effect: Effect, why: "unwanted" | "crashed"): void;
}

interface Opened {
  /** For the log of a schedule. */
  name: string;
  request: RunRequest;
  pin: RunSpec;
  openedAt: number;
}

const alive = new Map<string, SimulatedRun>();
/** One machine for all runs: providing costs more than a whole run does. */
const machine = provideAgent((effect) => alive.get(effect.run)?.begin(effect) ?? (() => {}));

/** A run as a host holds it: its journal, its actor while it is alive, and its wanted effects. */
export class SimulatedRun {
  readonly name: string;
  readonly request: RunRequest;
  readonly pin: RunSpec;
  readonly entries: RunFact[] = [];
  readonly wanted = new Map<string, Effect>();
  /** Number of inbox items that it has read. */
  inboxRead = 0;
  state: "alive" | "crashed" | "parked" | "settled" = "alive";
  readonly #openedAt: number;
  readonly #listener: RunListener;
  #actor: ReturnType<typeof createActor<typeof machine>> | null = null;
  #isReplaying = false;

  constructor({ name, request, pin, openedAt }: Opened, listener: RunListener) {
    this.name = name;
    this.request = request;
    this.pin = pin;
    this.#openedAt = openedAt;
    this.#listener = listener;
    this.#rebuild();
  }

  get context(): AgentContext {
    if (!this.#actor) throw new Error(`${this.name} is not alive`);
    return this.#actor.getSnapshot().context;
  }

  get response(): RunResponse | null {
    const last = this.entries.at(-1);
    return last?.type === "run.settled" ? last.response : null;
  }

  /** Called by the machine. */
  begin(effect: Effect): () => void {
    const key = effectKey(effect);
    if (this.state === "settled") throw new Error(`${this.name} wants ${key} after it has settled`);
    this.wanted.set(key, effect);
    if (!this.#isReplaying) this.#listener.started(this, effect);
    return () => {
      if (this.wanted.get(key) !== effect) return;
      this.wanted.delete(key);
      if (!this.#isReplaying) this.#listener.stopped(this, effect, "unwanted");
    };
  }

  /** Journals a fact, then sends it to the actor. */
  feed({ kind, ...rest }: FactBody, at: number): void {
    const fact = { ...rest, type: kind, at } as RunFact;
    this.entries.push(fact);
    this.#send(fact);
    if (kind !== "run.settled") return;
    this.state = "settled";
    this.#leave();
  }

  /** The host is gone, and its running effects with it. */
  crash(): void {
    this.state = "crashed";
    for (const effect of this.#leave()) this.#listener.stopped(this, effect, "crashed");
  }

  park(reason: "drain" | "approval" | "pause", at: number): void {
    this.feed({ kind: "run.parked", reason }, at);
    if (reason === "drain") this.crash();
    else {
      this.state = "parked";
      this.#leave();
    }
  }

  /** Another host resumes the run: it replays the journal, then starts the effects without an outcome. */
  claim(at: number): void {
    this.entries.push({ type: "run.claimed", reason: "resumed", at });
    this.state = "alive";
    this.#rebuild();
  }

  #rebuild(): void {
    const { request, pin } = this;
    alive.set(request.run, this);
    this.#isReplaying = true;
    this.#actor = createActor(machine, { input: { request, pin, openedAt: this.#openedAt } });
    this.#actor.subscribe({ error: () => {} }); // checked in #send
    this.#actor.start();
    for (const fact of this.entries) this.#send(fact);
    this.#isReplaying = false;
    for (const effect of [...this.wanted.values()]) this.#listener.started(this, effect);
  }

  #send(fact: RunFact): void {
    const key = answeredEffect({ ...fact, kind: fact.type } as never);
    if (key !== null) this.wanted.delete(key);
    this.#actor?.send(fact);
    const snapshot = this.#actor?.getSnapshot() as { status: string; error: unknown } | undefined;
    if (snapshot?.status === "error") throw snapshot.error;
  }

  #leave(): Effect[] {
    const left = [...this.wanted.values()];
    this.wanted.clear();
    this.#actor?.stop();
    if (this.state !== "settled") this.#actor = null;
    alive.delete(this.request.run);
    return left;
  }
}
