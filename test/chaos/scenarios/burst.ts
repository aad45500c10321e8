import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { startNatsMembers } from "../harness/nats-member.ts";
import { noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

/** All processes die at once: everything in memory is lost. */
export const burst: Scenario = {
  name: "k3",
  what: "daemons, workers and nats-server are killed in one burst, with all sessions under way",
  long: { runs: 50, workers: 2, leaseMs: 2_000 },
  short: { runs: 1, workers: 1 },
  supportsCluster: true,
  async run({ settings, scope, folder, random }) {
    const { leaseMs, runs, daemons, workers } = settings;
    const three = settings.cluster ? { servers: (await startNatsMembers({ scope, folder })).members } : {};
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers, latencyMs: 200, ...three });
    const members = [...cluster.servers, ...cluster.daemons, ...cluster.workers];
    const playing = runSessions(cluster, { count: runs, limitMs: 180_000 });
    // Not before they are in the middle of it, each at another place.
    const ledger = ledgerOf(cluster.ledgerHome);
    const wanted = runs * (4 + Math.floor(6 * random()));
    await until(async () => (await ledger.calls()).length >= wanted);
    await Promise.all(members.map((member) => member.kill()));
    await delay(500);
    await Promise.all(members.map((member) => member.start()));
    const sessions = await playing;
    return [noted("processes killed at once", members.length), ...(await checkCluster(cluster, sessions, runs))];
  },
};
