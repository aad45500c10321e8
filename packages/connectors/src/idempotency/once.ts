/**
 * Runs acts with the same key one after another, so that the second one finds the result of the first at the server.
 *
 * @example
 * const once = createOnce();
 * await Promise.all([once("k1", post), once("k1", post)]); // the second post begins after the first one
 */
export function createOnce(): <Result>(key: string, act: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, act) => {
    const before = last.get(key) ?? Promise.resolve();
    const running = before.then(act, act);
    last.set(key, running);
    try {
      return await running;
    } finally {
      if (last.get(key) === running) last.delete(key);
    }
  };
}
