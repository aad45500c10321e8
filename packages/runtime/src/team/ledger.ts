import type { Budget } from "@troupe/core";
import { addSpent, nothingSpent, remainderOf, type Spent, shareOf } from "@troupe/core/internal";

/** One task's claim on a team's budget, from its announcement until it has settled. */
export interface BudgetClaim {
  /**
   * Reserves a share of the remaining budget: an equal share among all tasks without one, at most `cap`. Null if the
   * budget is used up.
   */
  reserve(cap: Budget): Budget | null;
  /** Charges the used amount and releases the rest. Without `used` the task never ran and costs nothing. */
  settle(used?: Spent): void;
}

/** Tracks a team's budget and the amounts that its tasks have used and reserved. */
export interface Ledger {
  /** Announces a task. Later shares are divided among one more task. */
  announce(): BudgetClaim;
  /** The budget that is neither used nor reserved. */
  remainder(): Budget;
}

/**
 * Keeps all tasks of a team within one budget, even if many run at once.
 *
 * @example
 * const ledger = createLedger({ ...unlimited, tokens: 900 });
 * const [first, second] = [ledger.announce(), ledger.announce()];
 * first.reserve(unlimited); // 450 tokens
 * first.settle({ ...nothingSpent, tokens: 100 });
 * second.reserve(unlimited); // 800 tokens
 */
export function createLedger(budget: Budget): Ledger {
  const open = new Set<{ reserve: Budget | null }>();
  let spent = nothingSpent;

  const remainder = (): Budget =>
    remainderOf(
      budget,
      spent,
      [...open].flatMap(({ reserve }) => reserve ?? []),
    );

  const announce = (): BudgetClaim => {
    const claim: { reserve: Budget | null } = { reserve: null };
    open.add(claim);
    return {
      reserve(cap) {
        const waiting = [...open].filter(({ reserve }) => reserve === null).length;
        const share = shareOf(remainder(), waiting, cap);
        if (share) claim.reserve = withOwnRun(share);
        return share;
      },
      settle(used) {
        if (!open.delete(claim) || !used) return;
        spent = addSpent(spent, { ...used, spawns: used.spawns + 1 });
      },
    };
  };

  return { announce, remainder };
}

/** A share counts the runs below the task. The task's own run is one more. */
function withOwnRun(share: Budget): Budget {
  return { ...share, spawns: (share.spawns ?? 0) + 1 };
}
