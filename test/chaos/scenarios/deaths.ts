import { setTimeout as delay } from "node:timers/promises";
import { type Failpoint, someFailpoints } from "../../harness/failpoints.ts";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { type Cluster, startCluster, type TroupeMember } from "../harness/cluster.ts";
import { failpointHitsMin } from "../harness/failpoint-hits.ts";
import { fencingOracle, untilTakenOver } from "../harness/fencing-oracle.ts";
import { forEachSeed } from "../harness/for-each-seed.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { MemberProcess } from "../harness/member.ts";
import { all, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { awaitEnd, submitSession, type TestSession } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();
const agents = Object.values(children);
const endMs = 180_000;

/** Passings of each failpoint by the daemon, which runs the root of one session. */
const rootHitsMin: Partial<Record<Failpoint, number>> = { "effect:before": 5, "effect:after": 5, "append:after": 3 };

/** The faults of `k2`, `k1`, `k5` and `k3` for the same processes, one after the other. */
export const deaths: Scenario = {
  name: "deaths",
  what: "a daemon and two workers die at named moments, a third is stopped beyond its lease, then all die at once",
  long: { seeds: 12, leaseMs: 2_000 },
  short: { minutes: 0.04 },
  run: (context) => forEachSeed(context, runOnce),
};

async function runOnce(context: ScenarioContext): Promise<OracleResult[]> {
  const { scope, folder, settings, random } = context;
  const { leaseMs, minutes } = settings;
  const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 200 });
  const moments = await dieAtMoments(cluster, context);
  const sleeper = await cluster.addWorker({ name: "sleeper", agents });
  await ended(cluster, moments.session);
  const stopped = await stopBeyondLease(cluster, sleeper, 60_000 * minutes);
  const burst = await killAll(cluster, sleeper, 1 + Math.floor(3 * random()));
  const sessions = [moments.session, stopped.session, burst];
  const suspended = { pid: stopped.process.pid, stops: 1 };
  return [
    all("processes that died at their moment", moments.died, moments.doomed),
    ...stopped.results,
    noted("processes killed at once", cluster.servers.length + cluster.daemons.length + 1),
    ...(await checkCluster(cluster, sessions, sessions.length, suspended)),
  ];
}

/** The daemon dies at its moment and comes back. A worker dies at its moment, and so does the one that takes over. */
async function dieAtMoments(cluster: Cluster, { settings: { seed }, random }: ScenarioContext) {
  const [atDaemon = "effect:after"] = someFailpoints(1, seed + 6);
  const atWorkers = someFailpoints(2, seed);
  const passingOf = (hits: number) => 1 + Math.floor(random() * hits);
  const daemon = await cluster.addDaemon({ name: "daemon1", agents: [boss], start: false });
  await daemon.start({ TROUPE_TEST_FAILPOINT: `${atDaemon}#${passingOf(rootHitsMin[atDaemon] ?? 1)}` });
  const submitted = submitSession(cluster);
  const back = daemon.ended().then(async (process) => {
    await daemon.start();
    return process;
  });
  const ends: (MemberProcess | null)[] = [];
  for (const [i, point] of atWorkers.entries()) {
    // The first leaves work to the second.
    const passing = i === 0 ? passingOf(failpointHitsMin[point] / 2) : 1;
    const env = { TROUPE_TEST_FAILPOINT: `${point}#${passing}` };
    const worker = await cluster.addWorker({ name: `doomed${i + 1}`, agents, env });
    ends.push(await Promise.race([worker.ended(), delay(endMs, null)]));
  }
  ends.push(await back);
  const died = ends.filter((process) => process?.signal === "SIGKILL").length;
  return { session: await submitted, died, doomed: ends.length };
}

/** A worker that was stopped for longer than its lease still believes that it holds its runs, which another finished. */
async function stopBeyondLease(cluster: Cluster, sleeper: TroupeMember, stoppedMs: number) {
  const process = sleeper.current();
  if (!process) throw new Error("the worker has ended");
  const ledger = ledgerOf(cluster.ledgerHome);
  const begun = untilCalls(cluster, process, 1);
  const session = await submitSession(cluster);
  await begun;
  sleeper.freeze();
  const waking = await cluster.addWorker({ name: "waking", agents });
  await delay(stoppedMs);
  await untilTakenOver(cluster.natsUrl, process);
  sleeper.thaw();
  await ended(cluster, session);
  await waking.stop();
  const results = fencingOracle(await readJournalStream(cluster.natsUrl), await ledger.calls(), process, 1);
  return { process, session, results };
}

/** Everything in memory is lost. By then the worker that was stopped works again: no other serves its agents. */
async function killAll(cluster: Cluster, worker: TroupeMember, calls: number): Promise<TestSession> {
  const begun = untilCalls(cluster, worker.current(), calls);
  const session = await submitSession(cluster);
  await begun;
  const members = [...cluster.servers, ...cluster.daemons, worker];
  await Promise.all(members.map((member) => member.kill()));
  await Promise.all(members.map((member) => member.start()));
  return await ended(cluster, session);
}

/** Waits until a process has begun so many calls more than before. */
async function untilCalls({ ledgerHome }: Cluster, process: MemberProcess | null, calls: number): Promise<void> {
  const count = async () => (await ledgerOf(ledgerHome).calls()).filter(({ pid }) => pid === process?.pid).length;
  const before = await count();
  await until(async () => (await count()) >= before + calls);
}

async function ended(cluster: Cluster, session: TestSession): Promise<TestSession> {
  return await awaitEnd(cluster, session, AbortSignal.timeout(endMs));
}
