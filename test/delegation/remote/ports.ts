import type { Logger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { openNatsLink, openNatsPorts } from "@troupe/nats";
import type { HostDeps } from "@troupe/runtime";
import type { Activity } from "./activity.ts";

export interface TeamPorts extends Pick<HostDeps, "journal" | "queue" | "bus" | "subjects"> {
  /** Resolves when the server has all that was sent from here, and all that it had for this process has come. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface NatsPortsOptions {
  url: string;
  /** Namespace of one test, so that it sees no other messages. */
  namespace: string;
  logger: Logger;
  activity: Activity;
}

/** One process's end of everything that hosts share. Leases are real time, whatever clock the test has. */
export async function openTeamPorts({ url, namespace, logger, activity }: NatsPortsOptions): Promise<TeamPorts> {
  const link = await openNatsLink({ servers: url, reconnectDelayMs: 20 });
  const ports = await openNatsPorts({
    ...{ link, namespace, clock: systemClock(), logger },
    onListenerError: (err) => logger.error({ err }, "listener failed"),
  });
  return {
    journal: activity.counted(ports.journal),
    queue: activity.countedQueue(ports.queue),
    bus: activity.counted(ports.bus),
    subjects: ports.subjects,
    // Nothing comes any more over one that was closed meanwhile.
    sync: () => link.connection.flush().catch(() => {}),
    async close() {
      await ports.close();
      await link.close();
    },
  };
}
