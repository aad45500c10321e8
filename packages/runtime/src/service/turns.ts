/**
 * Lets those who want something of the same session come one after another: each sees what the one before it has
 * done, so that of two who say the same at once one changes something and the other nothing.
 */
export function createTurns(): <T>(session: string, work: () => Promise<T>) => Promise<T> {
  const lastTurns = new Map<string, Promise<unknown>>();
  return async (session, work) => {
    const before = lastTurns.get(session) ?? Promise.resolve();
    const turn = before.then(work, work);
    lastTurns.set(session, turn);
    try {
      return await turn;
    } finally {
      if (lastTurns.get(session) === turn) lastTurns.delete(session);
    }
  };
}
