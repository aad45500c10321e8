import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { fencingOracle, untilTakenOver } from "../harness/fencing-oracle.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { awaitEnd, runSessions, submitSession } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();

/**
 * A worker that was stopped for longer than its lease still believes that it holds its runs, which others have
 * finished.
 */
export const zombie: Scenario = {
  name: "k5",
  what: "a worker is stopped (SIGSTOP) for longer than its lease, others take over, and it wakes up",
  long: { runs: 12, minutes: 1, workers: 2 },
  short: { runs: 1, minutes: 0.06 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, minutes } = settings;
    const later = Math.min(runs, 2);
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 });
    await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const agents = Object.values(children);
    const sleeper = await cluster.addWorker({ name: "sleeper", agents });
    // No other worker runs yet, so this one gets all children.
    const sessions = await Promise.all(Array.from({ length: runs }, () => submitSession(cluster)));
    const signal = AbortSignal.timeout(minutes * 60_000 + 10 * leaseMs + 180_000);
    const ends = Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
    const memberProcess = sleeper.current();
    const ledger = ledgerOf(cluster.ledgerHome);
    await until(async () => (await ledger.calls()).some(({ pid }) => pid === memberProcess?.pid));
    sleeper.freeze();
    const frozenAt = Date.now();
    await cluster.addWorker({ name: "waking", agents });
    await delay(minutes * 60_000);
    await untilTakenOver(cluster.natsUrl, memberProcess);
    const wokenAt = Date.now();
    sleeper.thaw();
    await ends;
    // The thawed worker still works: with the other worker gone, it runs everything.
    await cluster.workers.find(({ name }) => name === "waking")?.stop();
    const afterwards = await runSessions(cluster, { count: later, limitMs: 180_000 });
    const journal = await readJournalStream(cluster.natsUrl);
    return [
      noted(
        "sessions that ended while it stood still",
        sessions.filter(({ settledAt }) => (settledAt ?? 0) < wokenAt).length,
      ),
      noted("it was stopped for", `${((wokenAt - frozenAt) / 1000).toFixed(1)} s at a lease of ${leaseMs / 1000} s`),
      ...(memberProcess ? fencingOracle(journal, await ledger.calls(), memberProcess, 1) : []),
      ...(await checkCluster(
        cluster,
        [...sessions, ...afterwards],
        runs + later,
        memberProcess && { pid: memberProcess.pid, stops: 1 },
      )),
    ];
  },
};
