import { createSubjects, silentLogger, TroupeError, type TroupeService } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsBusOn, type NatsLink } from "@troupe/nats";
import { listHosts } from "@troupe/runtime/internal";
import type { NatsFlags } from "troupe/internal";
import { findServer, type NatsCheckOptions, openServerLink } from "./server.ts";

export interface HostWatchOptions extends NatsCheckOptions {
  nats: NatsFlags;
}

/** The hosts on a server, for a process that is not a host. */
export interface HostWatch extends Pick<TroupeService, "hosts" | "drainHost"> {
  /** Server URL without credentials. */
  server: string;
  close(): Promise<void>;
}

/** Lists the hosts on a server without a daemon; null if no server is configured. */
export async function watchHosts(options: HostWatchOptions): Promise<HostWatch | null> {
  const connection = await findServer(options);
  if (connection.kind === "embedded") return null;
  if (connection.kind === "auto") {
    throw new TroupeError("USAGE", "`auto` is for `troupe up` only", {
      fix: "troupe up --nats auto",
    });
  }
  const link = await openServerLink(connection, "troupe-hosts");
  try {
    return await createHostWatch(link, connection.namespace);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function createHostWatch(link: NatsLink, namespace: string): Promise<HostWatch> {
  const bus = createNatsBusOn(link);
  const subjects = createSubjects(namespace);
  const { hosts, drainHost, stop } = await listHosts({ bus, subjects, clock: systemClock(), logger: silentLogger });
  return {
    server: `${link.redactedUrl} (namespace ${namespace})`,
    hosts,
    async drainHost(host, by) {
      const outcome = await drainHost(host, by);
      // Flush, because this process exits right after the request.
      await bus.flush();
      return outcome;
    },
    async close() {
      stop();
      await bus.close();
      await link.close();
    },
  };
}
