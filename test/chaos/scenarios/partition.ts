import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { fencingOracle, untilTakenOver } from "../harness/fencing-oracle.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { createNetwork, type HostNamespace } from "../harness/namespaces.ts";
import { none, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { awaitEnd, submitSession } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();

interface Cut {
  name: string;
  what: string;
  begin(host: HostNamespace): Promise<void>;
  end(host: HostNamespace): Promise<void>;
}

const cuts: Cut[] = [
  {
    name: "n3",
    what: "cut off from the server, both ways",
    begin: (host) => host.unplug(),
    end: (host) => host.plugIn(),
  },
  {
    name: "n3-mute",
    what: "unable to send, but able to receive",
    begin: (host) => host.mute(),
    end: (host) => host.unmute(),
  },
];

/** The worker of a machine that is cut off begins nothing there once another may have its runs. */
export const partitions: Scenario[] = cuts.map((cut) => ({
  name: cut.name,
  what: `a worker's machine is ${cut.what} (--minutes), others take its runs over, and the cable is mended`,
  long: { runs: 8, minutes: 1, leaseMs: 8_000 },
  short: { runs: 2, minutes: 0.1 },
  needsRoot: true,
  run: (context) => runOnce(cut, context),
}));

async function runOnce(cut: Cut, { settings, scope, folder }: ScenarioContext): Promise<OracleResult[]> {
  const { leaseMs, runs, minutes } = settings;
  const { address, hosts } = await createNetwork(2, scope);
  const [far, near] = hosts;
  if (!far || !near) throw new Error("two machines were asked for");
  const cluster = await startCluster({
    ...{ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 },
    nats: { address },
  });
  await cluster.addDaemon({ name: "daemon1", agents: [boss] });
  const agents = Object.values(children);
  const cutOff = await cluster.addWorker({ name: "far", agents, host: far });
  const sessions = await Promise.all(Array.from({ length: runs }, () => submitSession(cluster)));
  const signal = AbortSignal.timeout(minutes * 60_000 + 10 * leaseMs + 180_000);
  const ends = Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
  const memberProcess = cutOff.current();
  const ledger = ledgerOf(cluster.ledgerHome);
  await until(async () => (await ledger.calls()).some(({ pid }) => pid === memberProcess?.pid));
  await cut.begin(far);
  const cutAt = Date.now();
  await cluster.addWorker({ name: "near", agents, host: near });
  await delay(minutes * 60_000);
  await untilTakenOver(cluster.natsUrl, memberProcess);
  await cut.end(far);
  const mendedAt = Date.now();
  await ends;
  const journal = await readJournalStream(cluster.natsUrl);
  return [
    noted("sessions that ended meanwhile", sessions.filter(({ settledAt }) => (settledAt ?? 0) < mendedAt).length),
    noted("the cable was cut for", `${((mendedAt - cutAt) / 1000).toFixed(1)} s`),
    ...(memberProcess ? fencingOracle(journal, await ledger.calls(), memberProcess) : []),
    none(
      "processes that ended",
      cluster.workers.filter(({ processes: lives }) => lives.length > 1).map(({ name }) => name),
    ),
    ...(await checkCluster(cluster, sessions, runs)),
  ];
}
