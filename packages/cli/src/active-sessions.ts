import { decode, SettledMessage, type TroupeService } from "@troupe/core";
import type { World } from "@troupe/runtime";

export interface ActiveSessions {
  /** The same service, with its sessions counted. */
  service: TroupeService;
  /** Resolves when every session that was submitted here has settled. */
  idle(): Promise<void>;
}

/** Counts the sessions that this process has accepted and not yet finished. */
export function createActiveSessions(service: TroupeService, { bus, subjects }: World): ActiveSessions {
  const active = new Set<string>();
  const waiting = new Set<() => void>();

  const settled = (session: string): void => {
    active.delete(session);
    if (active.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  return {
    service: {
      ...service,
      async submit(request) {
        const submitted = await service.submit(request);
        const { session, run } = submitted;
        active.add(session);
        const subscription = await bus.subscribe(subjects.settled(run), ({ bytes }) => {
          const message = decode(SettledMessage, bytes, "settled message");
          subscription.unsubscribe();
          settled(message.session);
        });
        // It may have been quicker than the subscription.
        if (await service.record.response(session)) settled(session);
        return submitted;
      },
    },
    idle: () => (active.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}
