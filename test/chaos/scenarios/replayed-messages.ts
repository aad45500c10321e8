import { ledgerOf } from "../../harness/ledger.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { all, noted } from "../harness/oracle-result.ts";
import { shuffledWindows, startReplayer } from "../harness/replayer.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

const times = 3;

/** Another client publishes every message again, while sessions run and after all processes restarted. */
export const replayedMessages: Scenario = {
  name: "n7",
  what: "every message is sent three times more, in another order, while sessions run and after a restart of all",
  long: { runs: 30, workers: 2, leaseMs: 2_000 },
  short: { runs: 2, workers: 1 },
  async run({ settings, scope, folder, random }) {
    const { leaseMs, runs, daemons, workers } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers, latencyMs: 150 });
    const replayer = await startReplayer(cluster.natsUrl, scope);
    const first = await runSessions(cluster, { count: Math.ceil(runs / 2), limitMs: 180_000 });
    const ledger = ledgerOf(cluster.ledgerHome);
    const before = await ledger.calls();
    const others = runSessions(cluster, { count: Math.floor(runs / 2), limitMs: 180_000 });
    const replayed = await replayer.replay(times, (messages) => shuffledWindows(messages, random));
    const second = await others;
    for (const member of [cluster.nats, ...cluster.daemons, ...cluster.workers]) await member.kill();
    await cluster.nats.start();
    await Promise.all([...cluster.daemons, ...cluster.workers].map((member) => member.start()));
    await replayer.replay(1, (messages) => shuffledWindows(messages, random));
    const third = await runSessions(cluster, { count: 1, limitMs: 180_000 });
    const again = await ledger.calls(first.map(({ run }) => run));
    const firstRuns = before.filter(({ key }) => first.some(({ run }) => key.startsWith(`${run}/`)));
    return [
      noted("messages heard, and said again", `${replayer.messageCount()}, ${replayed + replayer.messageCount()}`),
      all("calls of roots that had ended", again.length, firstRuns.length),
      ...(await checkCluster(cluster, [...first, ...second, ...third], runs + 1)),
    ];
  },
};
