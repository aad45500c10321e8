import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { none, noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();
const hourMs = 3_600_000;
const jumps = [hourMs, -hourMs, 30 * 24 * hourMs, -30 * 24 * hourMs];

/** The clock of one machine jumps repeatedly while its worker has runs. */
export const clockJump: Scenario = {
  name: "d5",
  what: "a worker's wall clock jumps by ±1 h and ±30 d, with runs under way",
  long: { runs: 24, minutes: 0.5 },
  short: { runs: 2, minutes: 0.1 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, minutes } = settings;
    const clock = path.join(folder, "clock");
    await writeFile(clock, "0");
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 });
    await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const agents = Object.values(children);
    await cluster.addWorker({ name: "worker1", agents, env: { TROUPE_TEST_CLOCK_OFFSET: clock } });
    await cluster.addWorker({ name: "worker2", agents });
    const spreadMs = minutes * 60_000;
    const playing = runSessions(cluster, { count: runs, spreadMs, limitMs: spreadMs + 180_000 });
    for (const jumpMs of jumps) {
      await delay(spreadMs / jumps.length);
      await writeFile(clock, String(jumpMs));
    }
    const sessions = await playing;
    const journal = await readJournalStream(cluster.natsUrl);
    const taken = [...journal.values()].flat().filter(({ entry }) => entry.kind === "run.claimed");
    return [
      noted("jumps", jumps.length),
      none(
        "runs that were taken from their holder",
        taken.map(({ entry }) => `${entry.run}#${entry.index}`),
      ),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};
