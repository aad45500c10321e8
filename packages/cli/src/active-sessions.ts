import { decode, SettledMessage, type Submitted, type TroupeService } from "@troupe/core";
import type { World } from "@troupe/runtime";

export interface ActiveSessions {
  /** The same service, with its sessions counted. */
  service: TroupeService;
  /** Resolves when every session that was submitted here has settled. */
  idle(): Promise<void>;
}

/** Counts the sessions that this process has accepted and not yet finished. */
export function createActiveSessions(service: TroupeService, { bus, subjects }: World): ActiveSessions {
  const active = new Set<string | symbol>();
  const waiting = new Set<() => void>();

  const settled = (session: string | symbol): void => {
    active.delete(session);
    if (active.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  const count = async ({ session, run }: Submitted): Promise<void> => {
    active.add(session);
    const subscription = await bus.subscribe(subjects.settled(run), ({ bytes }) => {
      const message = decode(SettledMessage, bytes, "settled message");
      subscription.unsubscribe();
      settled(message.session);
    });
    // It may have been quicker than the subscription.
    if (await service.record.response(session)) settled(session);
  };

  return {
    service: {
      ...service,
      async submit(request) {
        // Counted from the start: whoever leaves when nothing is active must not leave one behind that it just accepts.
        const asked = Symbol();
        active.add(asked);
        try {
          const submitted = await service.submit(request);
          await count(submitted);
          return submitted;
        } finally {
          settled(asked);
        }
      },
    },
    idle: () => (active.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}
