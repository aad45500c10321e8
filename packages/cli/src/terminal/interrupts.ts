import type { EventEmitter } from "node:events";

const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type SignalName = keyof typeof numbers;
const names = Object.keys(numbers) as SignalName[];

/**
 * One Ctrl-C can arrive twice within milliseconds: the terminal signals every process of the group, and a parent such as a
 * package manager can forward its own signal.
 */
const sameSignalMs = 100;

export interface Interrupts {
  /** Aborts at the first signal, for a graceful stop. The second signal exits at once. */
  readonly signal: AbortSignal;
  /** 130 for SIGINT, 143 for SIGTERM; null before any signal. */
  exitCode(): number | null;
  dispose(): void;
}

/**
 * Turns the first signal into an abort and the second one into an exit.
 *
 * @param source `process`, or a stand-in.
 */
export function watchInterrupts(options: {
  source: Pick<EventEmitter, "on" | "off">;
  exit: (code: number) => void;
  monotonicMs?: () => number;
}): Interrupts {
  const { source, exit, monotonicMs = () => performance.now() } = options;
  const controller = new AbortController();
  let first: { code: number; atMs: number } | null = null;
  const listeners = names.map((name) => {
    const listener = () => {
      const code = 128 + numbers[name];
      if (first === null) {
        first = { code, atMs: monotonicMs() };
        controller.abort(new Error(`interrupted by ${name}`));
      } else if (monotonicMs() - first.atMs >= sameSignalMs) {
        exit(code);
      }
    };
    source.on(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    exitCode: () => first?.code ?? null,
    dispose: () => {
      for (const { name, listener } of listeners) source.off(name, listener);
    },
  };
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
