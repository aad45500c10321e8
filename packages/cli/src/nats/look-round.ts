import { createSubjects, silentLogger, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createNatsBusOn, type NatsLink, openNatsLink } from "@troupe/nats";
import { listHosts } from "@troupe/runtime/internal";
import { createProjectTrust } from "@troupe/tools";
import { findConnection, homeFiles, openConfig } from "troupe/internal";
import type { HostWatch, HostWatchOptions } from "../troupe.ts";

/** The hosts on a server, for a process that is none itself and needs no daemon; null where no server is named. */
export async function watchHosts({ home, nats: flags, env, cwd }: HostWatchOptions): Promise<HostWatch | null> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const { nats } = await (await openConfig({ home, env, cwd, trust })).at(null);
  const connection = findConnection({ flags, nats, env, cwd });
  if (connection.kind === "embedded") return null;
  if (connection.kind === "auto") {
    throw new TroupeError("USAGE", "`auto` starts a server, on which there are no hosts yet", {
      fix: "troupe up --nats auto",
    });
  }
  const { server, namespace } = connection;
  const { servers, access, inboxPrefix } = server;
  const prefix = inboxPrefix === undefined ? {} : { inboxPrefix };
  const link = await openNatsLink({ servers, access, name: "troupe-hosts", ...prefix });
  try {
    return await watchOver(link, namespace);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function watchOver(link: NatsLink, namespace: string): Promise<HostWatch> {
  const bus = createNatsBusOn(link);
  const subjects = createSubjects(namespace);
  const { hosts, drainHost, stop } = await listHosts({ bus, subjects, clock: systemClock(), logger: silentLogger });
  return {
    server: `${link.redactedUrl} (namespace ${namespace})`,
    hosts,
    async drainHost(host, by) {
      const outcome = await drainHost(host, by);
      // Whoever asks and leaves at once must still have been heard.
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
