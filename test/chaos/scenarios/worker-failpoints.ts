import { setTimeout as delay } from "node:timers/promises";
import { someFailpoints } from "../../harness/failpoints.ts";
import { type TreeAgents, treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster, type TroupeMember } from "../harness/cluster.ts";
import { failpointHitsMin } from "../harness/failpoint-hits.ts";
import { forEachSeed } from "../harness/for-each-seed.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { all, atMost, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { awaitEnd, submitSession } from "../harness/sessions.ts";
import { takeoversOf } from "../harness/takeovers.ts";

/** From the last death on, all of it together gets so long. */
const endMs = 120_000;

interface FailingWorker {
  name: string;
  tree: TreeAgents;
  worker: TroupeMember;
  failpoint: string;
}

/**
 * One worker per failpoint kills itself there. A frozen survivor thaws after the last death and takes over all runs, so
 * that no other worker gets them earlier.
 */
export const workerFailpoints: Scenario = {
  name: "k1",
  what: "a worker dies at each named moment of a delegation; another takes over",
  long: { seeds: 20, leaseMs: 2_000 },
  short: { moments: 2 },
  run: (context) => forEachSeed(context, runOnce),
};

async function runOnce({ settings, scope, folder, random }: ScenarioContext): Promise<OracleResult[]> {
  const { leaseMs, slack, seed } = settings;
  const failpoints = someFailpoints(settings.moments, seed);
  const trees = failpoints.map((point) => treeAgents(`-${point.replace(":", "-")}`));
  const childrenOf = ({ builder, surveyor, checker }: TreeAgents): string[] => [builder, surveyor, checker];
  const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 60, trees });
  const bosses = trees.map(({ boss }) => boss);
  await cluster.addDaemon({ name: "daemon1", agents: bosses });
  const survivor = await cluster.addWorker({ name: "survivor", agents: trees.flatMap(childrenOf), capacity: 64 });
  survivor.freeze();
  const doomed = await Promise.all(
    failpoints.map(async (point, i): Promise<FailingWorker> => {
      const tree = trees[i] ?? treeAgents();
      const failpoint = `${point}#${1 + Math.floor(random() * failpointHitsMin[point])}`;
      const name = `doomed-${point.replace(":", "-")}`;
      const env = { TROUPE_TEST_FAILPOINT: failpoint };
      const worker = await cluster.addWorker({ name, trees: [tree], agents: childrenOf(tree), env });
      return { name, tree, worker, failpoint };
    }),
  );
  const sessions = await Promise.all(doomed.map(({ tree }) => submitSession(cluster, { agent: tree.boss })));
  const deaths = await Promise.all(
    doomed.map(({ worker }) => Promise.race([worker.ended(), delay(endMs).then(() => null)])),
  );
  survivor.thaw();
  const thawedAt = Date.now();
  const signal = AbortSignal.timeout(endMs);
  await Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
  const runs = await readJournalStream(cluster.natsUrl);
  const tookMs = deaths.flatMap((memberProcess) => takeoversOf(runs, memberProcess, thawedAt).map((one) => one.tookMs));
  const killed = deaths.filter((memberProcess) => memberProcess?.signal === "SIGKILL").length;
  return [
    all("workers that died at their moment", killed, failpoints.length),
    noted("runs taken over", tookMs.length),
    atMost("longest takeover", Math.max(0, ...tookMs), 1.5 * leaseMs * slack, " ms"),
    ...(await checkCluster(cluster, sessions, failpoints.length)),
  ];
}
