import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { isWhole, makeLeader } from "../../harness/nats-cluster.ts";
import { until } from "../../harness/until.ts";
import { runsPerSession, treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { fencingOracle, untilTakenOver } from "../harness/fencing-oracle.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { startNatsMembers, urlOf } from "../harness/nats-member.ts";
import { all, none, noted } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { awaitEnd, submitSession } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();
const streams = ["troupe_journal", "troupe_tasks", "OBJ_troupe_blobs"];

/**
 * An isolated leader keeps answering reads and lease extensions for a while after the other two servers elect a new
 * leader. It never confirms a write.
 */
export const lostLeader: Scenario = {
  name: "n3-leader",
  what: "the leader of three servers is cut off from the others, with a worker that it serves (--minutes)",
  long: { runs: 8, minutes: 1, leaseMs: 8_000 },
  short: { runs: 3, minutes: 0.5 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, minutes } = settings;
    const { members, proxies } = await startNatsMembers({ scope, folder, proxied: true });
    const [alone, ...others] = members;
    if (!alone || !proxies) throw new Error("three servers were asked for");
    const cluster = await startCluster({
      ...{ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 },
      servers: members,
    });
    const natsUrl = urlOf(others);
    await cluster.addDaemon({ name: "daemon1", agents: [boss], natsUrl });
    const agents = Object.values(children);
    const far = await cluster.addWorker({ name: "far", agents, natsUrl: urlOf([alone]) });
    const sessions = await Promise.all(Array.from({ length: runs }, () => submitSession(cluster)));
    const signal = AbortSignal.timeout(minutes * 60_000 + 10 * leaseMs + 180_000);
    const ends = Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
    for (const stream of streams) await makeLeader(cluster.natsUrl, stream, alone.name);
    const memberProcess = far.current();
    const ledger = ledgerOf(cluster.ledgerHome);
    await until(async () => (await ledger.calls()).some(({ pid }) => pid === memberProcess?.pid));
    // Starts before the cut, so that the children always have a host.
    await cluster.addWorker({ name: "near", agents, natsUrl });
    proxies.cutOff(0);
    const cutAt = Date.now();
    await delay(minutes * 60_000);
    await untilTakenOver(natsUrl, memberProcess);
    proxies.restore();
    const mendedAt = Date.now();
    for (const stream of streams) await until(() => isWhole(cluster.natsUrl, stream));
    const wholeAt = Date.now();
    await ends;
    const journal = await readJournalStream(cluster.natsUrl);
    return [
      all("runs", journal.size, runs * runsPerSession),
      noted("sessions that ended meanwhile", sessions.filter(({ settledAt }) => (settledAt ?? 0) < mendedAt).length),
      noted("it was cut off for", `${((mendedAt - cutAt) / 1000).toFixed(1)} s`),
      noted("all three had all of it again after", `${((wholeAt - mendedAt) / 1000).toFixed(1)} s`),
      ...(memberProcess ? fencingOracle(journal, await ledger.calls(), memberProcess) : []),
      none(
        "processes that ended",
        cluster.workers.filter(({ processes: lives }) => lives.length > 1).map(({ name }) => name),
      ),
      ...(await checkCluster(cluster, sessions, runs)),
    ];
  },
};
