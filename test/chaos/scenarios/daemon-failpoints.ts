import { setTimeout as delay } from "node:timers/promises";
import { someFailpoints } from "../../harness/failpoints.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { failpointHitsMin } from "../harness/failpoint-hits.ts";
import { forEachSeed } from "../harness/for-each-seed.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { MemberProcess } from "../harness/member.ts";
import { all, atMost, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { awaitEnd, submitSession } from "../harness/sessions.ts";

const endMs = 120_000;
/** Limit of RELIABILITY for a daemon that comes back, in addition to the lease. */
const progressMs = 5_000;

/**
 * One daemon per failpoint, with agents that only this daemon serves, so that only its next process can resume the run.
 */
export const daemonFailpoints: Scenario = {
  name: "k2",
  what: "a daemon dies at each named moment of its sessions, and comes back",
  long: { seeds: 20, leaseMs: 2_000 },
  short: { moments: 1, seed: 7 },
  run: (context) => forEachSeed(context, runOnce),
};

async function runOnce({ settings, scope, folder, random }: ScenarioContext): Promise<OracleResult[]> {
  const { leaseMs, slack, seed } = settings;
  const failpoints = someFailpoints(settings.moments, seed);
  const trees = failpoints.map((point) => treeAgents(`-${point.replace(":", "-")}`));
  const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 60, trees });
  const doomed = await Promise.all(
    failpoints.map(async (point, i) => {
      const tree = trees[i] ?? treeAgents();
      const failpoint = `${point}#${1 + Math.floor(random() * failpointHitsMin[point])}`;
      const daemonOptions = { name: `daemon-${point.replace(":", "-")}`, trees: [tree], start: false };
      const daemon = await cluster.addDaemon(daemonOptions);
      await daemon.start({ TROUPE_TEST_FAILPOINT: failpoint });
      return { daemon, cast: tree };
    }),
  );
  const signal = AbortSignal.timeout(2 * endMs);
  const played = doomed.map(async ({ daemon, cast: tree }) => {
    const asking = submitSession(cluster, { agent: tree.boss, daemons: [daemon], signal });
    const death = await Promise.race([daemon.ended(), delay(endMs).then(() => null)]);
    const next = await daemon.start();
    const session = await awaitEnd(cluster, await asking, signal);
    return { session, daemon, death, next };
  });
  const lives = await Promise.all(played);
  const killed = lives.filter(({ death }) => death?.signal === "SIGKILL").length;
  const runs = await readJournalStream(cluster.natsUrl);
  const progress = lives.flatMap(({ next, session }) => progressOf(next, session.session, runs) ?? []);
  return [
    all("daemons that died at their moment", killed, failpoints.length),
    atMost(
      "longest until a session goes on after its daemon is back",
      Math.max(0, ...progress),
      progressMs * slack,
      " ms",
    ),
    ...(await checkCluster(
      cluster,
      lives.map(({ session }) => session),
      failpoints.length,
    )),
  ];
}

/** From the moment when a daemon was ready again to the first entry of its session; null where nothing was left to do. */
function progressOf(
  next: MemberProcess,
  session: string,
  runs: Awaited<ReturnType<typeof readJournalStream>>,
): number | null {
  const after = [...runs.values()]
    .flat()
    .filter(({ entry, storedAt }) => entry.session === session && storedAt > next.startedAt)
    .map(({ storedAt }) => storedAt);
  return after.length === 0 || next.readyAt === null ? null : Math.max(0, Math.min(...after) - next.readyAt);
}
