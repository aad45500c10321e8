/** Tries of an action that had no time on the processor. Each may take twice as long as the one before it. */
const triesMax = 6;

/**
 * Runs an action that throws at its time limit, as a script of `node:vm` does. The limit is real time: on a busy machine it
 * can pass before the action has had its turn. Then the action runs again, with twice the limit.
 *
 * @param run gets the limit in milliseconds. It must be safe to repeat
 */
export function runLimited<T>(timeoutMs: number, run: (timeoutMs: number) => T): T {
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    try {
      return run(timeoutMs * 2 ** (tries - 1));
    } catch (error) {
      const { user, system } = process.cpuUsage(before);
      const hadItsTurn = (user + system) / 1_000 > timeoutMs / 2;
      if (!isTimeout(error) || hadItsTurn || tries === triesMax) throw error;
    }
  }
}

/** Whether a script of `node:vm` reached its limit. The error can come from another realm, where `instanceof` fails. */
export function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}
