/** Runs work with the same key one after the other, in the order of the calls. */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key);
    const result = before ? before.then(work, work) : work();
    last.set(key, result);
    const clear = (): void => {
      if (last.get(key) === result) last.delete(key);
    };
    result.then(clear, clear);
    return result;
  };
}
