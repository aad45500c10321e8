import { writeAgent } from "../../harness/home-files.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { keepAlive } from "../harness/keep-alive.ts";
import { noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { awaitEnd, runSessions, submitSession } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();

/** Only the poison agent calls a model for its intent, so only its workers die. */
const deadly = "effect:before@intent";

/** A task that kills each of its workers is given up after three hosts and harms no other run. */
export const crashLoop: Scenario = {
  name: "k6",
  what: "a task kills every worker that takes it, each of which is started again",
  long: { runs: 20 },
  short: { runs: 1 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs } = settings;
    const poison = [{ steps: [{ text: "alive" }] }];
    const cluster = await startCluster({
      ...{ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 100 },
      more: { poison },
      prepareHome: (home) => writeAgent(home, "poison", { troupe: { intent: "model" } }),
    });
    const agents = [...Object.values(children), "poison"];
    const env = { TROUPE_TEST_FAILPOINT: deadly };
    await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const workers = await Promise.all(["worker1", "worker2"].map((name) => cluster.addWorker({ name, agents, env })));
    const restarter = keepAlive(workers);
    const poisoned = await submitSession(cluster, { agent: "poison" });
    const sessions = await runSessions(cluster, {
      count: runs,
      spreadMs: 3 * leaseMs,
      limitMs: 15 * leaseMs + 180_000,
    });
    await awaitEnd(cluster, poisoned, AbortSignal.timeout(15 * leaseMs));
    await restarter.stop();
    const deaths = workers.flatMap(({ processes: lives }) => lives.filter(({ signal }) => signal === "SIGKILL")).length;
    const { error, status } = poisoned.response ?? { error: null, status: "open" };
    const journal = await readJournalStream(cluster.natsUrl);
    const results: OracleResult[] = [
      { what: "the deadly task ended as", value: status, wanted: "failed", ok: status === "failed" },
      { what: "with the error", value: error?.type ?? "none", wanted: "crashed", ok: error?.type === "crashed" },
      { what: "workers that it killed", value: deaths, wanted: "3", ok: deaths === 3 },
      noted("entries of its run", journal.get(poisoned.run)?.length ?? 0),
    ];
    return [...results, ...(await checkCluster(cluster, sessions, runs))];
  },
};
