import type { ModelPrice } from "@troupe/core/internal";

/** Element by element the dearer of two prices: what is set aside at it is enough for both. */
export function maxPrice(one: ModelPrice, other: ModelPrice): ModelPrice {
  const most = (of: (price: ModelPrice) => number): number => Math.max(of(one), of(other));
  return {
    inputPerMillion: most(({ inputPerMillion }) => inputPerMillion),
    outputPerMillion: most(({ outputPerMillion }) => outputPerMillion),
    cachedInputPerMillion: most((price) => price.cachedInputPerMillion ?? price.inputPerMillion),
    cacheWritePerMillion: most((price) => price.cacheWritePerMillion ?? price.inputPerMillion),
  };
}
