/**
 * The laws that durability rests on, over random schedules of outcomes, wishes, restarts and noise:
 * a journal fed in order through a fresh actor gives the same run, wanting the same effects, at every point.
 */
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import type { Budget } from "../../protocol/budget.ts";
import { type Effect, effectKey } from "../effects.ts";
import type { RunFact } from "../facts.ts";
import { aResponse, commanded, settledWith } from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import {
  act,
  answersTo,
  type Choice,
  outcomeOf,
  requested,
  schedule,
  setting,
} from "../random-schedule.test-helper.ts";

const numRuns = inject("long") ? 3_000 : 60;

interface Snapshot {
  state: string;
  context: unknown;
  pending: Effect[];
}

function snapshotOf(d: MachineDriver): Snapshot {
  const pending = d.pending().sort((a, b) => (effectKey(a) < effectKey(b) ? -1 : 1));
  return { state: d.state(), context: d.context(), pending };
}

test("replaying a journal gives the same run at every point of it", () => {
  fc.assert(
    fc.property(setting, requested, schedule, (changes, request, choices) => {
      const live = drive(changes, request);
      const again = drive(changes, request);
      for (const next of choices) {
        if (live.isDone()) break;
        const known = live.facts.length;
        act(live, next);
        again.replay(live.facts.slice(known));
        expect(snapshotOf(again)).toEqual(snapshotOf(live));
      }
      const fresh = drive(changes, request);
      fresh.replay(live.facts);
      expect(snapshotOf(fresh)).toEqual(snapshotOf(live));
    }),
    { numRuns },
  );
});

/** The effects that a fact lets be started once more. */
function releasedBy(fact: RunFact, wanted: readonly string[]): string[] {
  if (fact.type === "run.claimed") return wanted.filter((key) => /^(intent|model|summary|compact)/.test(key));
  if (fact.type === "model.failed") return [`model/${fact.step}`];
  return fact.type === "approval.requested" ? [`tool/${fact.step}/${fact.call}`] : [];
}

/** Started and finished effects during a schedule; the deadline starts as often as the clock. */
function watch(d: MachineDriver) {
  const mayStart = new Map(d.look().started.map((key) => [key, false]));
  const over = new Set<string>();
  return {
    /** Effects that were started a second time without a reason, and pending effects that have already finished. */
    wrongAfter(next: Choice): string[] {
      const [known, wanted] = [d.facts.length, d.pendingKeys()];
      act(d, next);
      for (const key of d.facts.slice(known).flatMap((fact) => releasedBy(fact, wanted))) mayStart.set(key, true);
      const { started } = d.look();
      const again = started.filter((key) => mayStart.get(key) === false);
      for (const key of wanted.filter((one) => !d.pendingKeys().includes(one))) over.add(key);
      for (const key of started) {
        mayStart.set(key, false);
        over.delete(key);
      }
      const remaining = d.pendingKeys().filter((key) => over.has(key));
      return [...again, ...remaining].filter((key) => key !== "timer/deadline");
    },
  };
}

test("an effect starts once, unless its outcome was lost, delayed or needs an approval; a finished effect is not started again", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      const watched = watch(d);
      for (const next of choices) if (!d.isDone()) expect(watched.wrongAfter(next)).toEqual([]);
    }),
    { numRuns },
  );
});

const count = (d: MachineDriver, kind: Effect["kind"]): number =>
  d.pending().filter((effect) => effect.kind === kind).length;

test("the caps on concurrency, turns, calls and children are never exceeded", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      for (const next of choices) {
        if (d.isDone()) break;
        act(d, next);
        const { pin, step, usage, children, childrenRequested } = d.context();
        expect(count(d, "callTool")).toBeLessThanOrEqual(pin.limits.maxParallelTools);
        expect(count(d, "runChild")).toBeLessThanOrEqual(pin.limits.maxConcurrent);
        expect(Object.keys(children).length).toBeLessThanOrEqual(pin.limits.maxConcurrent);
        expect(count(d, "callModel")).toBeLessThanOrEqual(1);
        expect(step).toBeLessThanOrEqual(pin.limits.maxIterations);
        expect(usage.toolCalls).toBeLessThanOrEqual(pin.limits.maxToolCalls);
        expect(childrenRequested).toBeLessThanOrEqual(pin.limits.maxChildren);
        if (d.state() !== "execute.act.working")
          expect(d.children().filter((id) => id.startsWith("tool/"))).toEqual([]);
        if (!/^(execute|stopping)/.test(d.state()))
          expect(d.children().filter((id) => id.startsWith("batch/"))).toEqual([]);
      }
    }),
    { numRuns },
  );
});

test("used and reserved amounts never exceed the budget of the tree", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      for (const next of choices) {
        if (d.isDone()) break;
        act(d, next);
        const { pin, usage, callReserve, children } = d.context();
        const held: Partial<Budget>[] = Object.values(children).map(({ reserve }) => reserve ?? {});
        const all: Partial<Budget>[] = [usage.charged, callReserve ?? {}, ...held];
        for (const kind of ["tokens", "costUsd", "toolCalls", "spawns"] as const) {
          const sum = all.reduce((total, part) => total + (part[kind] ?? 0), 0);
          expect(sum).toBeLessThanOrEqual((pin.budget[kind] ?? Number.POSITIVE_INFINITY) + 1e-9);
        }
      }
    }),
    { numRuns },
  );
});

test("while a run is paused no effect starts, and the clock stops", () => {
  let paused = 0;
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      for (const next of choices) {
        if (d.isDone()) break;
        const wasPaused = d.context().paused;
        const before = new Set(
          d
            .pending()
            .filter(({ kind }) => kind === "runChild")
            .map(effectKey),
        );
        d.look();
        act(d, next);
        if (!wasPaused || !d.context().paused) continue;
        paused += 1;
        expect(d.look().started.filter((key) => /^(model|tool|summary|trim|compact)\//.test(key))).toEqual([]);
        const children = d
          .pending()
          .filter(({ kind }) => kind === "runChild")
          .map(effectKey);
        expect(children.filter((key) => !before.has(key))).toEqual([]);
        expect(d.context().clock.runningSince).toBeNull();
      }
    }),
    { numRuns },
  );
  expect(paused).toBeGreaterThan(numRuns / 10);
});

/** Answers whatever is wanted, and whatever people are asked, until the run ends. */
function finish(d: MachineDriver, how: number): void {
  for (let i = 0; i < 400 && !d.isDone(); i += 1) {
    const fits = ({ kind, ...effect }: Effect): boolean =>
      kind !== "cancelChild" && !("timer" in effect && /deadline|grace/.test(effect.timer));
    const effect = d.pending().find(fits);
    const outcome = effect ? outcomeOf(d, effect, how + i) : answersTo(d, how + i)[0];
    if (!outcome && !d.context().paused) throw new Error(`nothing is wanted in ${d.state()}`);
    d.feed(outcome ?? commanded({ kind: "run.resumed" }));
  }
}

test("answering the pending effects of a run at any point settles it, and it stays settled", () => {
  fc.assert(
    fc.property(setting, schedule, fc.nat(1_000), (changes, choices, how) => {
      const d = drive(changes);
      for (const next of choices) if (!d.isDone()) act(d, next);
      finish(d, how);
      expect([d.isDone(), d.pending(), d.children()]).toEqual([true, [], []]);
      expect(d.output()).toEqual(d.response());
      expect(d.response().success).toBe(d.response().status === "completed");
    }),
    { numRuns },
  );
});

test("every planned child settles, unless its parent's wait timed out", () => {
  let children = 0;
  fc.assert(
    fc.property(setting, schedule, fc.nat(1_000), (changes, choices, how) => {
      const d = drive(changes);
      for (const next of choices) if (!d.isDone()) act(d, next);
      finish(d, how);
      if (d.facts.some((fact) => fact.type === "timer.fired" && fact.timer === "grace")) return;
      const settled = new Set(
        d.facts.flatMap((fact) => (fact.type === "child.settled" ? [`${fact.step}/${fact.call}/${fact.item}`] : [])),
      );
      const planned = d.facts.flatMap((fact) =>
        fact.type === "calls.planned" ? fact.children.map(({ call, item }) => `${fact.step}/${call}/${item}`) : [],
      );
      expect(planned.filter((place) => !settled.has(place))).toEqual([]);
      children += planned.length;
    }),
    { numRuns },
  );
  expect(children).toBeGreaterThan(numRuns / 10);
});

test("a settled run ignores every later event", () => {
  const d = drive();
  const again = drive();
  d.feed(settledWith(aResponse()));
  again.replay(d.facts);
  expect(snapshotOf(again)).toEqual(snapshotOf(d));
});
