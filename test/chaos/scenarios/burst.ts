import { setTimeout as delay } from "node:timers/promises";
import { startCluster } from "../harness/cluster.ts";
import { examine } from "../harness/examine.ts";
import type { Scenario } from "../harness/scenario.ts";
import { playSessions } from "../harness/sessions.ts";
import { noted } from "../harness/verdict.ts";

/** Everything at once, twice: what was in memory anywhere is gone. */
export const burst: Scenario = {
  name: "k3",
  what: "daemons, workers and nats-server are killed in one burst, with all sessions under way",
  long: { runs: 50, workers: 2, leaseMs: 2_000 },
  short: { runs: 8 },
  async play({ settings, scope, folder, random }) {
    const { leaseMs, runs, daemons, workers } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers, latencyMs: 200 });
    const members = [cluster.nats, ...cluster.daemons, ...cluster.workers];
    const playing = playSessions(cluster, { count: runs, limitMs: 120_000 });
    await delay(500 + random() * 1_500);
    await Promise.all(members.map((member) => member.kill()));
    await delay(500);
    await Promise.all(members.map((member) => member.start()));
    const sessions = await playing;
    return [noted("processes killed at once", members.length), ...(await examine(cluster, sessions, runs))];
  },
};
