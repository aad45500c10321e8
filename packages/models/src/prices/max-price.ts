import type { ModelPrice } from "@troupe/core/internal";

/**
 * A price that is at least as high as each of these, so that a reservation at it covers all of them. Null when one of
 * them is unknown, or when there are none.
 */
export function maxPrice([first = null, ...others]: readonly (ModelPrice | null)[]): ModelPrice | null {
  return others.reduce((highest, price) => highest && price && maxOfTwo(highest, price), first);
}

function maxOfTwo(one: ModelPrice, other: ModelPrice): ModelPrice {
  const most = (of: (price: ModelPrice) => number): number => Math.max(of(one), of(other));
  return {
    inputPerMillion: most(({ inputPerMillion }) => inputPerMillion),
    outputPerMillion: most(({ outputPerMillion }) => outputPerMillion),
    cachedInputPerMillion: most((price) => price.cachedInputPerMillion ?? price.inputPerMillion),
    cacheWritePerMillion: most((price) => price.cacheWritePerMillion ?? price.inputPerMillion),
  };
}
