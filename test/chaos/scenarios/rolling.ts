import { setTimeout as delay } from "node:timers/promises";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { none, noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();

/** A deploy: each worker is told to leave (SIGTERM), and a new one takes its place, while runs are under way. */
export const rolling: Scenario = {
  name: "rolling",
  what: "every worker is drained and replaced, one after the other, while sessions are under way",
  long: { runs: 50, workers: 3 },
  short: { runs: 3, workers: 2 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, workers } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 250 });
    await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const agents = Object.values(children);
    const names = Array.from({ length: workers }, (_, i) => `old${i + 1}`);
    const old = await Promise.all(names.map((name) => cluster.addWorker({ name, agents })));
    const playing = runSessions(cluster, { count: runs, spreadMs: workers * 3_000, limitMs: 180_000 });
    await delay(1_000);
    const drainedMs: number[] = [];
    for (const [i, worker] of old.entries()) {
      await cluster.addWorker({ name: `new${i + 1}`, agents });
      const toldAt = Date.now();
      await worker.stop();
      drainedMs.push(Date.now() - toldAt);
    }
    const sessions = await playing;
    const journal = await readJournalStream(cluster.natsUrl);
    const moved = [...journal.values()].flat().filter(({ entry }) => entry.kind === "run.parked").length;
    return [
      noted("runs that were handed over", moved),
      noted("longest drain", `${Math.max(...drainedMs)} ms`),
      none(
        "workers that did not leave in good order",
        old.flatMap(({ name, processes: lives }) => (lives[0]?.code === 0 ? [] : [name])),
      ),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};
