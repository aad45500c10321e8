import type { Budget } from "@troupe/core";
import { addSpent, nothingSpent, remainderOf, type Spent, shareOf } from "@troupe/core/internal";

/** One task's claim on a team's budget, from when it is announced until it has settled. */
export interface Place {
  /**
   * Sets a share of what is left aside: an equal one among all tasks that have none yet, and no more than the cap. Null
   * where nothing is left.
   */
  reserve(cap: Budget): Budget | null;
  /** Takes what was really used, and gives the rest back. Without a figure, nothing was: the task was never asked. */
  settle(used?: Spent): void;
}

/** What a team may use in all, and what has been taken of it. */
export interface Ledger {
  /** Announces a task: from now on what is left is divided among one more. */
  announce(): Place;
  /** What is left when everything that is set aside is taken as used. */
  remainder(): Budget;
}

/**
 * Keeps all tasks of a team together within one budget, however many of them are under way at once.
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

  const announce = (): Place => {
    const place: { reserve: Budget | null } = { reserve: null };
    open.add(place);
    return {
      reserve(cap) {
        const waiting = [...open].filter(({ reserve }) => reserve === null).length;
        const share = shareOf(remainder(), waiting, cap);
        if (share) place.reserve = withItself(share);
        return share;
      },
      settle(used) {
        if (!open.delete(place) || !used) return;
        spent = addSpent(spent, { ...used, spawns: used.spawns + 1 });
      },
    };
  };

  return { announce, remainder };
}

/** A share counts the runs below a task's own: the task itself is one more. */
function withItself(share: Budget): Budget {
  return { ...share, spawns: (share.spawns ?? 0) + 1 };
}
