/** Concurrent tasks together never get more than the budget. */
import type { Budget } from "@troupe/core";
import { nothingSpent, unlimited } from "@troupe/core/internal";
import { describe, expect, it } from "vitest";
import { createLedger } from "./ledger.ts";

const budget = (limits: Partial<Budget>): Budget => ({ ...unlimited, ...limits });
const cap = budget({ spawns: 0 });

describe("a team's budget", () => {
  it("is divided evenly among the tasks that were announced", () => {
    const ledger = createLedger(budget({ tokens: 900, costUsd: 3, toolCalls: 30 }));
    const places = [1, 2, 3].map(() => ledger.announce());
    const shares = places.map((place) => place.reserve(cap));
    expect(shares).toEqual(Array.from({ length: 3 }, () => ({ tokens: 300, costUsd: 1, toolCalls: 10, spawns: 0 })));
    expect(ledger.remainder()).toMatchObject({ tokens: 0, costUsd: 0, toolCalls: 0 });
  });

  it("gets back the unused part of a share", () => {
    const ledger = createLedger(budget({ tokens: 900 }));
    const [first, second] = [ledger.announce(), ledger.announce()];
    first.reserve(cap);
    first.settle({ ...nothingSpent, tokens: 100 });
    expect(second.reserve(cap)).toMatchObject({ tokens: 800 });
  });

  it("loses nothing to a task that never started", () => {
    const ledger = createLedger(budget({ tokens: 900, spawns: 1 }));
    const [asked, dropped] = [ledger.announce(), ledger.announce()];
    dropped.settle();
    expect(asked.reserve(cap)).toMatchObject({ tokens: 900 });
    asked.settle();
    expect(ledger.remainder()).toMatchObject({ tokens: 900, spawns: 1 });
  });

  it("reserves at most the cap of a task", () => {
    const ledger = createLedger(budget({ tokens: 900 }));
    expect(ledger.announce().reserve(budget({ tokens: 50 }))).toMatchObject({ tokens: 50 });
    expect(ledger.remainder()).toMatchObject({ tokens: 850 });
  });

  it("counts each task as a run, and the runs below it", () => {
    const ledger = createLedger(budget({ spawns: 5 }));
    const place = ledger.announce();
    expect(place.reserve(unlimited)).toMatchObject({ spawns: 4 });
    expect(ledger.remainder()).toMatchObject({ spawns: 0 });
    place.settle({ ...nothingSpent, spawns: 2 });
    expect(ledger.remainder()).toMatchObject({ spawns: 2 });
  });

  it.each<[string, Partial<Budget>]>([
    ["tokens", { tokens: 0 }],
    ["money", { costUsd: 0 }],
    ["runs", { spawns: 0 }],
  ])("gives no share if no %s are left", (_, limits) => {
    expect(createLedger(budget(limits)).announce().reserve(unlimited)).toBeNull();
  });

  it("is used up by an unknown cost if costs are limited", () => {
    const ledger = createLedger(budget({ costUsd: 5 }));
    const place = ledger.announce();
    place.reserve(cap);
    place.settle({ ...nothingSpent, costUsd: null });
    expect(ledger.announce().reserve(cap)).toBeNull();
  });

  it("settles a task once", () => {
    const ledger = createLedger(budget({ tokens: 10 }));
    const place = ledger.announce();
    place.reserve(cap);
    place.settle({ ...nothingSpent, tokens: 3 });
    place.settle({ ...nothingSpent, tokens: 3 });
    expect(ledger.remainder()).toMatchObject({ tokens: 7 });
  });

  it("without limits stays unlimited", () => {
    const ledger = createLedger(unlimited);
    expect(ledger.announce().reserve(unlimited)).toEqual(unlimited);
    expect(ledger.remainder()).toEqual(unlimited);
  });
});
