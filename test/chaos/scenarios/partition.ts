import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { startCluster } from "../harness/cluster.ts";
import { castOf } from "../harness/company.ts";
import { examine } from "../harness/examine.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { type HostNamespace, layCables } from "../harness/namespaces.ts";
import type { Scenario, Stage } from "../harness/scenario.ts";
import { askFor, awaitEnd } from "../harness/sessions.ts";
import { twoOwners } from "../harness/two-owners.ts";
import { none, noted, type Verdict } from "../harness/verdict.ts";

const { boss, ...children } = castOf();

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
  { name: "n3-mute", what: "heard by nobody, but hears", begin: (host) => host.mute(), end: (host) => host.unmute() },
];

/** The worker of a machine that is cut off begins nothing there once another may have its runs. */
export const partitions: Scenario[] = cuts.map((cut) => ({
  name: cut.name,
  what: `a worker's machine is ${cut.what} (--minutes), others take its runs over, and the cable is mended`,
  long: { runs: 8, minutes: 1, leaseMs: 8_000 },
  short: { runs: 3, minutes: 0.1 },
  needsRoot: true,
  play: (stage) => playOnce(cut, stage),
}));

async function playOnce(cut: Cut, { settings, scope, folder }: Stage): Promise<Verdict[]> {
  const { leaseMs, runs, minutes } = settings;
  const { address, hosts } = await layCables(2, scope);
  const [far, near] = hosts;
  if (!far || !near) throw new Error("two machines were asked for");
  const cluster = await startCluster({
    ...{ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 },
    nats: { address },
  });
  await cluster.addDaemon({ name: "daemon1", agents: [boss] });
  const agents = Object.values(children);
  const cutOff = await cluster.addWorker({ name: "far", agents, host: far });
  const sessions = await Promise.all(Array.from({ length: runs }, () => askFor(cluster)));
  const signal = AbortSignal.timeout(minutes * 60_000 + 10 * leaseMs + 180_000);
  const ends = Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
  const life = cutOff.living();
  const ledger = ledgerOf(cluster.ledgerHome);
  await until(async () => (await ledger.calls()).some(({ pid }) => pid === life?.pid));
  await cut.begin(far);
  const cutAt = Date.now();
  await cluster.addWorker({ name: "near", agents, host: near });
  await delay(minutes * 60_000);
  await cut.end(far);
  const mendedAt = Date.now();
  await ends;
  const journal = await readJournalStream(cluster.natsUrl);
  return [
    noted("sessions that ended meanwhile", sessions.filter(({ settledAt }) => (settledAt ?? 0) < mendedAt).length),
    noted("the cable was cut for", `${((mendedAt - cutAt) / 1000).toFixed(1)} s`),
    ...(life ? twoOwners(journal, await ledger.calls(), life) : []),
    none(
      "processes that ended",
      cluster.workers.filter(({ lives }) => lives.length > 1).map(({ name }) => name),
    ),
    ...(await examine(cluster, sessions, runs)),
  ];
}
