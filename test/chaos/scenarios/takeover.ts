import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { MemberProcess } from "../harness/member.ts";
import { atMost, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, Settings } from "../harness/scenario.ts";
import { awaitEnd, submitSession, type TestSession } from "../harness/sessions.ts";
import { takeoversOf } from "../harness/takeovers.ts";

const { boss, ...children } = treeAgents();

/** Time from a worker's death until another host claims its runs. */
export const takeover: Scenario = {
  name: "takeover",
  what: "a worker is killed in the middle of its runs: time until other hosts have them",
  long: { runs: 20, leaseMs: 8_000 },
  short: { runs: 2 },
  async run({ settings, scope, folder, random }) {
    const { leaseMs, runs: trials } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 250 });
    await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const agents = Object.values(children);
    const workers = await Promise.all([cluster.addWorker({ agents }), cluster.addWorker({ name: "worker2", agents })]);
    const ledger = ledgerOf(cluster.ledgerHome);
    const sessions: TestSession[] = [];
    const deaths: (MemberProcess | null)[] = [];
    for (let trial = 0; trial < trials; trial += 1) {
      const played = await submitSession(cluster);
      sessions.push(played);
      // Kills a worker that has begun a call of this session.
      const before = (await ledger.calls()).length;
      await delay(100 + random() * 300);
      const victim = await until(async () => {
        const calls = (await ledger.calls()).slice(before);
        return workers.find((worker) => calls.some(({ pid }) => pid === worker.current()?.pid));
      });
      deaths.push(await victim.kill());
      await awaitEnd(cluster, played, AbortSignal.timeout(3 * leaseMs + 90_000));
      await victim.start();
    }
    const runs = await readJournalStream(cluster.natsUrl);
    const tookMs = deaths.flatMap((memberProcess) => takeoversOf(runs, memberProcess).map((one) => one.tookMs));
    return [...figures(tookMs, settings), ...(await checkCluster(cluster, sessions, trials))];
  },
};

function figures(tookMs: number[], { leaseMs, slack }: Settings): OracleResult[] {
  const sorted = [...tookMs].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return [
    { what: "runs taken over", value: sorted.length, wanted: "≥ 1", ok: sorted.length > 0 },
    noted("takeover, median", `${median} ms (${(median / leaseMs).toFixed(2)} leases)`),
    atMost("takeover, longest", sorted.at(-1) ?? 0, 1.5 * leaseMs * slack, " ms"),
  ];
}
