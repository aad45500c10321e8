/**
 * Creates a function that runs work of one key one after the other, and work of different keys side by side. Work that
 * fails does not stop the queue.
 *
 * @example
 * const inTurn = createSerialQueue();
 * await Promise.all([inTurn("/a", first), inTurn("/a", second)]); // second starts after first
 */
export function createSerialQueue(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const latest = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const mine = (latest.get(key) ?? Promise.resolve()).then(work, work);
    const settled = mine
      .catch(() => {})
      .finally(() => {
        if (latest.get(key) === settled) latest.delete(key);
      });
    latest.set(key, settled);
    return mine;
  };
}
