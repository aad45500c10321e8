/**
 * No schedule of parallel, failing, retried, crashed and cancelled children lets a tree take more than its root's
 * budget; and unused reservations are returned.
 *
 * Each schedule is a whole session of real agent machines (see `simulation/`), in which whatever could happen next
 * does. The laws are checked after every move and once all is over: `simulation/laws.test-helper.ts`.
 */
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { unlimited } from "../budget/ledger.ts";
import { noBudgetLeft } from "./agent/plan-batch.ts";
import { flatAgents, smallContextAgents } from "./simulation/agents.test-helper.ts";
import type { SimulatedRun } from "./simulation/run.test-helper.ts";
import { ampleBudget, type Scenario, schedules, someBudget } from "./simulation/scenario.test-helper.ts";
import { simulate } from "./simulation/simulate.test-helper.ts";

const timeoutMs = 120_000;

/** Each run of the tests has schedules of its own. */
const times = inject("long") ? 10 : 0.3;

function hold(scenarios: fc.Arbitrary<Scenario>, numRuns: number): void {
  let held = 0;
  fc.assert(
    fc.property(scenarios, (scenario) => {
      simulate(scenario);
      held += 1;
    }),
    { numRuns: numRuns * times },
  );
  expect(held).toBe(numRuns * times);
}

test(
  "a tree never exceeds its root's budget, with failures, crashes, waits and stops",
  () => hold(schedules(someBudget, ["crashes", "failures", "cancels", "people", "timeouts"]), 400),
  timeoutMs,
);

test(
  "with hosts that die in the middle of paid calls, too",
  () => hold(schedules(someBudget, ["crashes"]), 200),
  timeoutMs,
);

test(
  "with children that fail and are retried in parallel, too",
  () => hold(schedules(someBudget, ["failures"]), 200),
  timeoutMs,
);

test(
  "with conversations over their limit, and hosts that die during a summary, too",
  () => {
    const seen = { trimmed: 0, summedUp: 0, cut: 0, lost: 0 };
    const count = ({ entries }: SimulatedRun): void =>
      entries.forEach((fact, at) => {
        if (fact.type === "context.trimmed") seen.trimmed += 1;
        if (fact.type === "context.compacted") seen[fact.error ? "cut" : "summedUp"] += 1;
        if (fact.type === "context.compacted" && entries[at - 1]?.type === "run.claimed") seen.lost += 1;
      });
    const budget = fc.oneof(someBudget, fc.constant(ampleBudget));
    const scenarios = schedules(budget, ["crashes", "failures"]);
    const rarest = (): number => Math.min(...Object.values(seen));
    const law = fc.property(scenarios, (scenario) => {
      simulate(scenario, { registry: smallContextAgents, law: ({ runs }) => void runs.forEach(count) });
    });
    fc.assert(law, { numRuns: 300 * times });
    // The property is worthless if one of the cases does not occur.
    for (let more = 0; more < 20 && rarest() === 0; more += 1) fc.assert(law, { numRuns: 50 });
    expect(rarest()).toBeGreaterThan(0);
  },
  timeoutMs,
);

test(
  "without limits every sum is exact, and every run ends",
  () => hold(schedules(fc.constant(unlimited), ["crashes", "failures", "cancels", "people", "timeouts"]), 150),
  timeoutMs,
);

test(
  "with a budget for the worst case no run is ever short of budget",
  () => {
    const scenarios = schedules(fc.constant(ampleBudget), ["failures", "people"], { mayStream: false });
    fc.assert(
      fc.property(scenarios, (scenario) => {
        simulate(scenario, { registry: flatAgents, law: ({ runs }) => expect(runs.flatMap(shortage)).toEqual([]) });
      }),
      { numRuns: 150 * times },
    );
  },
  timeoutMs,
);

function wasRetried(timer: string, entries: SimulatedRun["entries"]): boolean {
  const [kind, step, call, item, attempt] = timer.split("/");
  const next = `${step}/${call}/${item}/${Number(attempt) + 1}`;
  const isNext = (fact: (typeof entries)[number]): boolean =>
    fact.type === "child.settled" && `${fact.step}/${fact.call}/${fact.item}/${fact.attempt}` === next;
  return kind !== "retry" || entries.some(isNext);
}

/** Signs of a run that it, or a child that it wanted, had not enough of the tree's budget. */
function shortage({ name, response, pin, entries }: SimulatedRun): string[] {
  const isShort =
    (response?.bailoutReason === "max_tokens" && pin.limits.maxTokens === null) ||
    response?.bailoutReason === "max_cost" ||
    (response?.bailoutReason === "max_tool_calls" && response.metrics.toolCalls < pin.limits.maxToolCalls);
  const messages = [noBudgetLeft, "the budget of the whole tree", "the whole tree may make"];
  const unused = entries.flatMap((fact) =>
    fact.type === "timer.fired" && !wasRetried(fact.timer, entries) ? fact.timer : [],
  );
  const journal = JSON.stringify(entries);
  return [
    ...(isShort ? [`${name}: ${response.bailoutReason}`] : []),
    ...unused.map((timer) => `${name}: nothing came of ${timer}`),
    ...messages.filter((message) => journal.includes(message)).map((message) => `${name}: ${message}`),
  ];
}
