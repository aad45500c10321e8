import { chargedSoFar } from "../agent/children.ts";
import type { FactOf } from "../facts.ts";
import type { SimulatedRun } from "./run.test-helper.ts";
import type { Session } from "./session.test-helper.ts";
import { excess } from "./spending.test-helper.ts";

/** Checks the invariants of every moment. */
export function checkInvariants({ runs, spending: bill }: Session): void {
  for (const run of runs) {
    const { subtree, own } = bill.of(run);
    const { pin } = run;
    broken(run, "the real usage is more than the budget", excess(subtree, pin.budget));
    const caps = { tokens: pin.limits.maxTokens, costUsd: pin.limits.maxCostUsd, toolCalls: null, spawns: null };
    broken(run, "the real usage is more than the run's own cap", excess(own, caps));
    if (run.state !== "alive") continue;
    const charged = chargedSoFar(run.context);
    broken(run, "more is charged and set aside than the budget", excess(charged, pin.budget));
    broken(
      run,
      "the real usage is more than what is charged and set aside",
      excess(subtree, within(pin.budget, charged)),
    );
  }
}

/** Checks the invariants of an ended session. */
export function checkFinalInvariants(session: Session): void {
  for (const run of session.runs) {
    checkResponse(run, session);
    if (!session.abandoned.has(run)) checkChildren(run);
  }
}

function checkResponse(run: SimulatedRun, { spending: bill }: Session): void {
  const { response, pin } = run;
  if (!response) throw new Error(`${run.name}: has not settled`);
  const { charged } = response.metrics;
  const { subtree, isUnsure } = bill.of(run);
  broken(run, "its response charges more than the budget", excess(charged, pin.budget));
  broken(run, "its response charges less than was taken", excess(subtree, within(pin.budget, charged)));
  if (isUnsure) return;
  // If no outcome was lost, every unused reserve was returned.
  if (charged.tokens !== subtree.tokens)
    throw new Error(`${run.name}: ${charged.tokens} tokens charged, ${subtree.tokens} taken`);
  if (charged.spawns !== subtree.spawns)
    throw new Error(`${run.name}: ${charged.spawns} runs charged, ${subtree.spawns} started`);
  if (charged.costUsd !== null && Math.abs(charged.costUsd - subtree.costUsd) > 1e-9) {
    throw new Error(`${run.name}: ${charged.costUsd} USD charged, ${subtree.costUsd} taken`);
  }
}

/** Every planned child settled once per attempt, and the attempts have no gaps. */
function checkChildren({ name, entries }: SimulatedRun): void {
  const settled = new Map<string, number[]>();
  for (const fact of entries.filter((entry): entry is FactOf<"child.settled"> => entry.type === "child.settled")) {
    const place = `${fact.step}/${fact.call}/${fact.item}`;
    settled.set(place, [...(settled.get(place) ?? []), fact.attempt]);
  }
  for (const fact of entries) {
    if (fact.type !== "calls.planned") continue;
    for (const { call, item } of fact.children) {
      const attempts = settled.get(`${fact.step}/${call}/${item}`) ?? [];
      const isWhole = attempts.length > 0 && attempts.every((attempt, place) => attempt === place + 1);
      if (!isWhole) throw new Error(`${name}: child ${fact.step}/${call}/${item} settled with attempts [${attempts}]`);
    }
  }
}

/** The charged amounts as limits, for the kinds that the budget limits. */
function within(budget: SimulatedRun["pin"]["budget"], charged: ReturnType<typeof chargedSoFar>) {
  return {
    tokens: budget.tokens === null ? null : charged.tokens,
    costUsd: budget.costUsd === null ? null : charged.costUsd,
    toolCalls: budget.toolCalls === null ? null : charged.toolCalls,
    spawns: budget.spawns === null ? null : charged.spawns,
  };
}

function broken({ name }: SimulatedRun, law: string, how: string | null): void {
  if (how !== null) throw new Error(`${name}: ${law}: ${how}`);
}
