import type { Journal } from "@troupe/core";
import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import type { Scope } from "./scope.ts";

/** The journal of a cluster, as one more process of it would open it. */
export async function openSharedJournal(url: string, leaseMs: number, scope: Scope): Promise<Journal> {
  const link = await openNatsLink({ servers: url, name: "chaos" });
  scope.onTestFinished(() => link.close());
  const ports = await openNatsPorts({
    link,
    namespace: "troupe",
    settings: {},
    leaseMs,
    clock: systemClock(),
    logger: silentLogger,
    createStreams: false,
  });
  scope.onTestFinished(() => ports.close());
  return ports.journal;
}
