import type { TroupeService } from "@troupe/core";
import type { Submitted } from "@troupe/core/internal";
import type { HostDeps } from "@troupe/runtime";

export interface ActiveSessions {
  /** The same service; it counts the sessions that it accepts. */
  service: TroupeService;
  /** Resolves when every counted session has settled, except `besides`. */
  idle(options?: { besides: string }): Promise<void>;
}

/**
 * Counts the sessions that this process has accepted and that have not settled. A session counts from the start of its
 * submission, because its caller gets an id and expects this process to run it.
 */
export function createActiveSessions(
  service: TroupeService,
  { bus, subjects }: Pick<HostDeps, "bus" | "subjects">,
): ActiveSessions {
  const active = new Set<string>();
  const waiting = new Set<() => void>();
  let submitting = 0;

  const wakeIfIdle = (): void => {
    if (active.size > 0 || submitting > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  const settled = (session: string): void => {
    active.delete(session);
    wakeIfIdle();
  };

  const follow = async ({ session, run }: Submitted): Promise<void> => {
    active.add(session);
    const subscription = await bus.subscribe(subjects.settled(run), () => {
      subscription.unsubscribe();
      settled(session);
    });
    // The session can settle before the subscription is active.
    if ((await service.record.response(session))?.runId !== run) return;
    subscription.unsubscribe();
    settled(session);
  };

  return {
    service: {
      ...service,
      async submit(request) {
        submitting += 1;
        try {
          const submitted = await service.submit(request);
          await follow(submitted);
          return submitted;
        } finally {
          submitting -= 1;
          wakeIfIdle();
        }
      },
    },
    idle: (options) =>
      new Promise((resolve) => {
        if (options) active.delete(options.besides);
        waiting.add(resolve);
        wakeIfIdle();
      }),
  };
}
