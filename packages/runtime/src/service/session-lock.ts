/** Runs one piece of work at a time for each session. */
export type WithSessionLock = <T>(session: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates a lock per session. Each caller sees what the one before it did, so of two equal commands at the same time
 * only the first changes something.
 */
export function createSessionLock(): WithSessionLock {
  const lastBySession = new Map<string, Promise<unknown>>();
  return async (session, work) => {
    const before = lastBySession.get(session) ?? Promise.resolve();
    const current = before.then(work, work);
    lastBySession.set(session, current);
    try {
      return await current;
    } finally {
      if (lastBySession.get(session) === current) lastBySession.delete(session);
    }
  };
}
