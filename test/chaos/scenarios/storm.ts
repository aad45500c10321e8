import { setTimeout as delay } from "node:timers/promises";
import { isWhole } from "../../harness/nats-cluster.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { startKiller } from "../harness/killer.ts";
import type { Member } from "../harness/member.ts";
import { startNatsMembers } from "../harness/nats-member.ts";
import { noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

/** The other servers' information about a server may be older than its death. */
const knownMs = 3_000;
/** After the last kill, open sessions get this number of leases plus two minutes to end. */
const quietLeases = 6;
const quietMs = 120_000;

export const storm: Scenario = {
  name: "k4",
  what: "any of the daemons, the workers and nats-server is killed every 3-10 s, while sessions are under way",
  long: { runs: 100, minutes: 5, daemons: 2, workers: 4 },
  short: { runs: 2, minutes: 0.1, daemons: 2, workers: 1 },
  supportsCluster: true,
  async run({ settings, scope, folder, random }) {
    const { leaseMs, runs, minutes, daemons, workers, cluster: threeServers } = settings;
    const stormMs = minutes * 60_000;
    // A short storm is a denser one: it is to have kills enough.
    const isShort = minutes < 1;
    const everyMs = isShort ? ([1_000, 3_000] as const) : ([3_000, 10_000] as const);
    const latencyMs = isShort ? 300 : 1_000;
    const three = threeServers ? { servers: (await startNatsMembers({ scope, folder })).members } : {};
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers, latencyMs, ...three });
    const { servers, natsUrl } = cluster;
    const killer = startKiller({
      members: [...servers, ...cluster.daemons, ...cluster.workers],
      random,
      everyMs,
      // Of three servers two are to be there always, with all that was ever acknowledged.
      mayDie: async ({ kind }) => kind !== "nats" || !threeServers || (await areWhole(servers, natsUrl)),
    });
    // The last of them begins while there is still storm enough for all of it.
    const playing = runSessions(cluster, {
      count: runs,
      spreadMs: 0.9 * stormMs,
      limitMs: stormMs + quietLeases * leaseMs + quietMs,
    });
    await delay(stormMs);
    await killer.stop();
    const sessions = await playing;
    const killed = (kind: string): number => killer.kills.filter(({ name }) => name.startsWith(kind)).length;
    return [
      noted("kills of daemons (each with its recorder)", killed("daemon")),
      noted("kills of workers", killed("worker")),
      noted(threeServers ? "kills of any of three nats-servers" : "kills of nats-server", killed("nats")),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};

/** Whether each of them is there, and has been for long enough to be known to have all. */
async function areWhole(servers: readonly Member[], natsUrl: string): Promise<boolean> {
  if (servers.some((server) => Date.now() - (server.current()?.readyAt ?? Date.now()) < knownMs)) return false;
  const streams = ["troupe_journal", "troupe_tasks", "OBJ_troupe_blobs"];
  return (await Promise.all(streams.map((stream) => isWhole(natsUrl, stream)))).every(Boolean);
}
