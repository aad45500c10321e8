import { setTimeout as delay } from "node:timers/promises";
import { checkCluster } from "../harness/check-cluster.ts";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { atMost, none, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

/** Limit of RELIABILITY for processes that were cut off. */
const backMs = 5_000;

/** No process ends because the server does: all wait for it. */
export const outage: Scenario = {
  name: "n1",
  what: "nats-server is killed and stays away (--minutes), with sessions under way",
  long: { runs: 20, minutes: 0.5, workers: 2 },
  short: { runs: 2, minutes: 0.05, workers: 1 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, minutes, daemons, workers, slack } = settings;
    const awayMs = minutes * 60_000;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers, latencyMs: 300 });
    const playing = runSessions(cluster, { count: runs, limitMs: awayMs + 10 * leaseMs + 180_000 });
    await delay(1_000);
    await cluster.nats.kill();
    await delay(awayMs);
    const { readyAt } = await cluster.nats.start();
    const sessions = await playing;
    const journal = await readJournalStream(cluster.natsUrl);
    const after = [...journal.values()].flat().filter(({ storedAt }) => storedAt >= (readyAt ?? 0));
    const firstMs = Math.min(...after.map(({ storedAt }) => storedAt)) - (readyAt ?? 0);
    return [
      noted("the server was away for", `${awayMs / 1000} s`),
      atMost("first entry after it is back", after.length > 0 ? firstMs : 0, backMs * slack, " ms"),
      endedMembers(cluster),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};

/** No daemon and no worker may end because its server is away. */
export function endedMembers({ daemons, workers }: Cluster): OracleResult {
  const ended = [...daemons, ...workers].filter(({ processes }) => processes.length > 1 || processes[0]?.endedAt);
  return none(
    "processes that ended",
    ended.map(({ name }) => name),
  );
}
