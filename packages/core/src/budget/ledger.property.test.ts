/** Laws of the sums behind a tree's budget, whatever the numbers. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Budget, Spent } from "../protocol/budget.ts";
import {
  addSpent,
  excessOf,
  isUnlimited,
  remainderOf,
  shareOf,
  tightenBudget,
  timesEach,
  unlimited,
} from "./ledger.ts";

const kinds = ["tokens", "costUsd", "toolCalls", "spawns"] as const;
type Kind = (typeof kinds)[number];

const count = fc.nat(100_000);
const usd = fc.nat(50_000).map((thousandth) => thousandth / 1_000);
const limitOf = (value: fc.Arbitrary<number>): fc.Arbitrary<number | null> => fc.option(value, { freq: 3 });
const someBudget: fc.Arbitrary<Budget> = fc.record({
  tokens: limitOf(count),
  costUsd: limitOf(usd),
  toolCalls: limitOf(fc.nat(300)),
  spawns: limitOf(fc.nat(60)),
});
const someSpent: fc.Arbitrary<Spent> = fc.record({
  tokens: count,
  costUsd: fc.option(usd, { freq: 5 }),
  toolCalls: fc.nat(300),
  spawns: fc.nat(60),
});

/** Sums of floats differ in their last digits. */
const hair = 1e-6;
const isAtMost = (value: number | null, most: number | null): boolean =>
  most === null || (value !== null && value <= most + hair);
const isWithin = (budget: Budget, most: Budget): boolean => kinds.every((kind) => isAtMost(budget[kind], most[kind]));

test("children that start one after another never get more together than the parent's budget", () => {
  let capped = 0;
  const child = fc.record({ cap: someBudget, used: fc.double({ min: 0, max: 1, noNaN: true }), ends: fc.boolean() });
  fc.assert(
    fc.property(someBudget, fc.array(child, { minLength: 1, maxLength: 12 }), (budget, children) => {
      let charged: Spent = { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 };
      const reserves: Budget[] = [];
      for (const [place, { cap, used, ends }] of children.entries()) {
        const share = shareOf(remainderOf(budget, charged, reserves), children.length - place, cap);
        if (!share) continue;
        charged = addSpent(charged, { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 1 });
        if (ends) charged = addSpent(charged, usedOf(share, used));
        else reserves.push(share);
        expect(isWithin(share, cap)).toBe(true);
        for (const kind of kinds) {
          const taken = reserves.reduce((sum, reserve) => sum + (reserve[kind] ?? 0), charged[kind] ?? 0);
          if (budget[kind] === null) continue;
          capped += 1;
          expect(taken).toBeLessThanOrEqual(budget[kind] + hair);
        }
      }
    }),
  );
  expect(capped).toBeGreaterThan(100);
});

test("every sibling gets a share if each of them can have a token, a cent and a run", () => {
  fc.assert(
    fc.property(someBudget, fc.integer({ min: 1, max: 12 }), (left, waiting) => {
      const isEnough = (["tokens", "spawns"] as const).every((kind) => (left[kind] ?? waiting) >= waiting);
      fc.pre(isEnough && left.costUsd !== 0);
      expect(shareOf(left, waiting, unlimited)).not.toBeNull();
    }),
  );
});

test("with enough runs, a later child gets no less, even if all earlier ones use up their share", () => {
  fc.assert(
    fc.property(someBudget, fc.integer({ min: 2, max: 12 }), (left, waiting) => {
      const first = shareOf(left, waiting, unlimited);
      fc.pre(first !== null && (left.spawns ?? waiting) >= waiting);
      const begun = { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 1 };
      const second = shareOf(remainderOf(left, begun, first ? [first] : []), waiting - 1, unlimited);
      expect(second).not.toBeNull();
      for (const kind of kinds) expect(isAtMost(first?.[kind] ?? null, second?.[kind] ?? null)).toBe(true);
    }),
  );
});

test("tightening is monotone: it widens no limit, and the order does not matter", () => {
  fc.assert(
    fc.property(someBudget, someBudget, someBudget, (a, b, c) => {
      const tight = tightenBudget(a, b);
      expect(isWithin(tight, a) && isWithin(tight, b)).toBe(true);
      expect(tightenBudget(b, a)).toEqual(tight);
      expect(tightenBudget(tight, b)).toEqual(tight);
      expect(tightenBudget(tight, c)).toEqual(tightenBudget(a, tightenBudget(b, c)));
      // A sibling with a smaller share never gets more.
      expect(isWithin(tightenBudget(tight, c), tightenBudget(a, c))).toBe(true);
      expect(tightenBudget(a, unlimited)).toEqual(a);
    }),
  );
});

test("the remaining budget only shrinks as more is spent or reserved", () => {
  fc.assert(
    fc.property(someBudget, someSpent, someSpent, someBudget, (budget, spent, more, reserve) => {
      const left = remainderOf(budget, spent, []);
      expect(isWithin(left, budget)).toBe(true);
      expect(isWithin(remainderOf(budget, addSpent(spent, more), []), left)).toBe(true);
      expect(isWithin(remainderOf(budget, spent, [reserve]), left)).toBe(true);
      for (const kind of kinds) expect(left[kind] === null).toBe(budget[kind] === null);
    }),
  );
});

test("an unknown cost leaves no money, and the sum stays unknown with any further cost", () => {
  fc.assert(
    fc.property(someBudget, someSpent, (budget, spent) => {
      const unknown = addSpent(spent, { tokens: 0, costUsd: null, toolCalls: 0, spawns: 0 });
      expect(unknown.costUsd).toBeNull();
      const left = remainderOf(budget, unknown, []);
      expect(left.costUsd).toBe(budget.costUsd === null ? null : 0);
      if (budget.costUsd !== null) expect(shareOf(left, 1, unlimited)).toBeNull();
    }),
  );
});

test("a part plus the rest of the whole is the whole", () => {
  fc.assert(
    fc.property(someBudget, fc.integer({ min: 1, max: 5 }), (part, times) => {
      const whole = timesEach(part, times);
      expect(isUnlimited(whole)).toBe(isUnlimited(part));
      const rest = excessOf(whole, part);
      for (const kind of kinds) expect(sumOf(part, rest, kind)).toBeCloseTo(whole[kind] ?? 0, 6);
    }),
  );
});

function sumOf(a: Budget, b: Budget, kind: Kind): number {
  return (a[kind] ?? 0) + (b[kind] ?? 0);
}

/** The usage that a child reports of its share; a kind without a limit does not matter here. */
function usedOf(share: Budget, part: number): Spent {
  const whole = (kind: Kind): number => Math.floor((share[kind] ?? 0) * part);
  return {
    tokens: whole("tokens"),
    costUsd: (share.costUsd ?? 0) * part,
    toolCalls: whole("toolCalls"),
    spawns: whole("spawns"),
  };
}
