import type { RunRequest } from "../../protocol/request.ts";
import { failedOutcome } from "../agent/outcomes.ts";
import { composeResponse } from "../agent/response.ts";
import { answeredEffect, type Effect, type EffectOf, effectKey } from "../effects.ts";
import { anError, aRequest } from "../fixtures.test-helper.ts";
import type { FactBody } from "../machine-driver.test-helper.ts";
import { randomAgents, type SimulatedAgents, simulatedSpec } from "./agents.test-helper.ts";
import { notAsked, type Outcome, outcomeOf } from "./effect-outcomes.test-helper.ts";
import { Inbox, type SimulatedCommand } from "./inbox.test-helper.ts";
import { createRandom, type Random } from "./random.test-helper.ts";
import { type RunListener, SimulatedRun } from "./run.test-helper.ts";
import { type Faults, noFaults, type Scenario } from "./scenario.test-helper.ts";
import { type ModelEffect, Spending, usageOf } from "./spending.test-helper.ts";

/** From this many runs on, no model delegates, so that trees stay small. */
const runsWanted = 7;

/** A simulated session: its runs, their real usage, people, and hosts that crash. */
export class Session implements RunListener {
  readonly runs: SimulatedRun[] = [];
  readonly known = new Map<string, SimulatedRun>();
  readonly spending = new Spending();
  readonly inbox = new Inbox();
  /** Runs that settled while children of theirs had not. */
  readonly abandoned = new Set<SimulatedRun>();
  /** Offered children that no host has taken yet. */
  readonly queue: RunRequest[] = [];
  readonly questions: { run: string; approval: string }[] = [];
  readonly paused = new Set<string>();
  /** Runs that their parents told to stop. */
  readonly toldToStop = new Set<string>();
  /** Whether each child waits, as last reported to its parent. */
  readonly watched = new Map<Effect, boolean>();
  /** Outcomes of effects that were stopped meanwhile. */
  readonly late: { run: SimulatedRun; outcome: Outcome }[] = [];
  readonly random: Random;
  faults: Faults;
  readonly #scenario: Scenario;
  readonly #registry: SimulatedAgents;
  readonly #offered = new Set<string>();
  readonly #toolCallsMade = new Set<string>();
  readonly #log: string[] = [];
  #now = 1_000_000;

  constructor(scenario: Scenario, registry?: SimulatedAgents) {
    this.#scenario = scenario;
    this.faults = scenario.faults;
    this.random = createRandom(scenario.seed);
    this.#registry = registry ?? randomAgents(this.random);
    this.open(aRequest({ model: "sim/usual", budget: scenario.budget }));
  }

  get root(): SimulatedRun {
    const [root] = this.runs;
    if (!root) throw new Error("no root");
    return root;
  }

  get isOver(): boolean {
    return this.queue.length === 0 && this.runs.every(({ state }) => state === "settled");
  }

  tick(): void {
    this.#now += this.random.below(200);
  }

  endFaults(): void {
    this.faults = noFaults;
    this.note("no more faults from here on");
    for (const run of this.paused) this.resume(run);
  }

  started(run: SimulatedRun, effect: Effect): void {
    if (effect.kind !== "runChild" || this.#offered.has(effect.request.run)) return;
    this.#offered.add(effect.request.run);
    this.spending.charge(run, this.above(run), { spawns: 1 });
    this.queue.push(effect.request);
  }

  /** A stopped or lost effect may have been charged, and its outcome may still arrive. */
  stopped(run: SimulatedRun, effect: Effect, why: "unwanted" | "crashed"): void {
    const { random } = this;
    if (isModelCall(run, effect)) {
      const paid = random.chance(70) ? usageOf(effect, run, random) : null;
      this.#pay(run, paid, true, `${effectKey(effect)} is ${why === "crashed" ? "lost" : "stopped"}`);
    }
    if (effect.kind === "callTool" && random.chance(50)) this.#countTool(run, effect);
    if (why === "crashed") return;
    if (effect.kind === "runChild" || effect.kind === "dropChild") {
      this.abandoned.add(run);
      this.spending.markUnknown(run, this.above(run));
    }
    const { cancels, timeouts } = this.faults;
    const mayBeLate = (cancels || timeouts) && effect.kind !== "planCalls" && effect.kind !== "settle";
    if (!mayBeLate || !random.chance(30)) return;
    const outcome = this.#outcomeOf(run, effect);
    if (outcome) this.late.push({ run, outcome });
  }

  above({ request }: SimulatedRun): SimulatedRun[] {
    return request.ancestors.flatMap((id) => this.known.get(id) ?? []);
  }

  describeSession(): string {
    const agents = this.#registry.map(
      ({ id, subagents, limits, budget, retry, intent, model }) =>
        `  ${id}: ${JSON.stringify({ asks: subagents.allow, model, intent, limits, budget, retry })}`,
    );
    const head = [`budget ${JSON.stringify(this.#scenario.budget)}`, ...agents];
    return [...head, ...this.#log.map((line, place) => `${`${place + 1}`.padStart(3)} ${line}`)].join("\n");
  }

  open(request: RunRequest): void {
    const parent = this.known.get(request.parent?.run ?? "");
    const { step, call, item } = request.parent ?? { step: 0, call: 0, item: 0 };
    const place = `${step}.${call}.${item}${request.attempt > 1 ? `#${request.attempt}` : ""}`;
    const name = parent ? `${parent.name}/${place}:${request.agent}` : request.agent;
    const pin = simulatedSpec(request, this.#registry);
    this.note(`${name} is opened, budget ${JSON.stringify(pin.budget)}`);
    const run = new SimulatedRun({ name, request, pin, openedAt: this.#now }, this);
    this.runs.push(run);
    this.known.set(request.run, run);
  }

  finish(run: SimulatedRun, effect: Effect): void {
    const outcome = this.#outcomeOf(run, effect);
    if (!outcome) return;
    if (effect.kind === "startTimer" && effect.timer !== "deadline") {
      this.#now = Math.max(this.#now, effect.since + effect.delayMs);
    }
    if (effect.kind === "callTool" && outcome.body.kind === "tool.finished") this.#countTool(run, effect);
    this.#pay(run, outcome.usage, outcome.isUnknown, "");
    this.feed(run, outcome.body, `${effectKey(effect)} ${outcome.words}${bracketed(outcome.usage)}`);
  }

  #outcomeOf(run: SimulatedRun, effect: Effect): Outcome | null {
    const mayDelegate = this.runs.length + this.queue.length < runsWanted;
    const { mayStream } = this.#scenario;
    return outcomeOf(effect, { run, random: this.random, faults: this.faults, mayDelegate, mayStream });
  }

  feed(run: SimulatedRun, body: FactBody, words: string): void {
    this.note(`${run.name}: ${words}`);
    if (body.kind === "approval.requested") this.questions.push({ run: run.request.run, approval: body.approval.id });
    run.feed(body, this.#now);
  }

  /** A fact that was on its way to the journal when its effect was stopped. */
  feedLate(late: { run: SimulatedRun; outcome: Outcome }): void {
    this.late.splice(this.late.indexOf(late), 1);
    const { run, outcome } = late;
    // If the effect is wanted again, this outcome would answer it. No host lets that happen.
    const isWanted = run.wanted.has(answeredEffect(outcome.body) ?? "");
    if (run.state === "alive" && !isWanted) this.feed(run, outcome.body, `too late: ${outcome.body.kind}`);
  }

  #pay(run: SimulatedRun, usage: Outcome["usage"], isUnsure: boolean, words: string): void {
    if (isUnsure) this.spending.markUnknown(run, this.above(run));
    if (words) this.note(`${run.name}: ${words}${bracketed(usage)}`);
    if (!usage) return;
    const tokens = usage.inputTokens + usage.outputTokens;
    this.spending.charge(run, this.above(run), { tokens, costUsd: usage.costUsd ?? 0 });
  }

  /** A call that is repeated after a crash counts once. */
  #countTool(run: SimulatedRun, effect: Effect): void {
    const key = `${run.request.run}/${effectKey(effect)}`;
    if (this.#toolCallsMade.has(key)) return;
    this.#toolCallsMade.add(key);
    this.spending.charge(run, this.above(run), { toolCalls: 1 });
  }

  refuseToAsk(run: SimulatedRun, effect: EffectOf<"runChild">): void {
    const place = this.queue.findIndex(({ run: id }) => id === effect.request.run);
    this.queue.splice(place, 1);
    this.feed(run, notAsked(effect), `${effectKey(effect)} cannot be asked`);
  }

  receiveInbox(run: SimulatedRun): void {
    const item = this.inbox.next(run);
    if (item) this.feed(run, { kind: "inbox.received", ...item }, `receives ${item.item.kind}`);
  }

  command(command: SimulatedCommand): void {
    this.note(
      `command: ${command.kind}${"run" in command ? ` of ${this.known.get(command.run)?.name ?? "a run to come"}` : ""}`,
    );
    this.inbox.add(command, this.root.request.session, this.#now);
  }

  cancelChild({ request, reason }: EffectOf<"cancelChild">): void {
    this.toldToStop.add(request.run);
    this.command({ kind: "run.cancelled", run: request.run, reason });
  }

  pause({ request }: SimulatedRun): void {
    this.paused.add(request.run);
    this.command({ kind: "run.paused", run: request.run, by: "ada" });
  }

  resume(run: string): void {
    this.paused.delete(run);
    this.command({ kind: "run.resumed", run, by: "ada" });
  }

  answer(): void {
    const [question] = this.questions.splice(this.random.below(this.questions.length), 1);
    if (!question) return;
    const approved = this.random.chance(70);
    this.command({
      kind: "approval.answered",
      ...question,
      approved,
      scope: this.random.of(["once", "run"]),
      by: "ada",
    });
  }

  park(run: SimulatedRun): void {
    this.note(`${run.name} is parked`);
    run.park(run.context.paused ? "pause" : "approval", this.#now);
  }

  drain(run: SimulatedRun): void {
    this.note(`${run.name}: its host drains`);
    run.park("drain", this.#now);
  }

  crash(run: SimulatedRun): void {
    this.note(`${run.name}: its host dies`);
    run.crash();
  }

  claim(run: SimulatedRun): void {
    this.note(`${run.name} is claimed`);
    run.claim(this.#now);
  }

  /** Settles a run that its host cannot continue. */
  abandon(run: SimulatedRun): void {
    const response = composeResponse(run.context, failedOutcome(anError({ type: "crashed" })));
    this.abandoned.add(run);
    this.spending.markUnknown(run, this.above(run));
    this.feed(run, { kind: "run.settled", response }, "its host gives it up");
  }

  pass(ms: number): void {
    this.note(`${ms} ms go by`);
    this.#now += ms;
  }

  note(line: string): void {
    this.#log.push(line);
  }
}

/** Whether the effect calls a model. */
function isModelCall({ pin }: SimulatedRun, effect: Effect): effect is ModelEffect {
  if (effect.kind === "callModel") return true;
  if (effect.kind === "summarise" || effect.kind === "compact") return effect.maxOutputTokens > 0;
  return effect.kind === "assessIntent" && effect.maxOutputTokens > 0 && pin.definition.intent === "model";
}

function bracketed(usage: Outcome["usage"]): string {
  return usage ? ` [takes ${usage.inputTokens} + ${usage.outputTokens} tokens, ${usage.costUsd} USD]` : "";
}
