/**
 * Keeps the result of a slow question for a short time. Concurrent callers share one try, and a failure is not kept.
 *
 * @example
 * const fallback = createRecent(60_000, () => findFallback());
 * await fallback(); // at most a minute old
 */
export function createRecent<T>(ageMsMax: number, make: () => Promise<T>): () => Promise<T> {
  let made: { value: Promise<T>; atMs: number } | null = null;
  return () => {
    const nowMs = performance.now();
    if (made !== null && nowMs - made.atMs < ageMsMax) return made.value;
    const fresh = { value: make(), atMs: nowMs };
    made = fresh;
    fresh.value.catch(() => {
      if (made === fresh) made = null;
    });
    return fresh.value;
  };
}
