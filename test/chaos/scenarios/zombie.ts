import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { type Cluster, startCluster, type TroupeMember } from "../harness/cluster.ts";
import { castOf } from "../harness/company.ts";
import { examine } from "../harness/examine.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { Scenario } from "../harness/scenario.ts";
import { askFor, awaitEnd, type PlayedSession, playSessions } from "../harness/sessions.ts";
import { isBy } from "../harness/takeovers.ts";
import { none, noted, type Verdict } from "../harness/verdict.ts";

const { boss, ...children } = castOf();

/** Who was stopped for longer than its lease believes that it still holds what others have long since finished. */
export const zombie: Scenario = {
  name: "k5",
  what: "a worker is stopped (SIGSTOP) for longer than its lease, others take over, and it wakes up",
  long: { runs: 12, minutes: 1, workers: 2 },
  short: { runs: 4, minutes: 0.1 },
  async play({ settings, scope, folder }) {
    const { leaseMs, runs, minutes } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 400 });
    await cluster.addDaemon({ name: "daemon1", definitions: [boss] });
    const agents = Object.values(children);
    const sleeper = await cluster.addWorker({ name: "sleeper", agents });
    // Nobody else is there yet: all children of these are the sleeper's.
    const sessions = await Promise.all(Array.from({ length: runs }, () => askFor(cluster)));
    await until(async () => (await ledgerOf(cluster.ledgerHome).calls()).some(({ pid }) => pid === pidOf(sleeper)));
    sleeper.freeze();
    const frozenAt = Date.now();
    await cluster.addWorker({ name: "waking", agents });
    await delay(minutes * 60_000);
    const wokenAt = Date.now();
    sleeper.thaw();
    const signal = AbortSignal.timeout(10 * leaseMs + 30_000);
    await Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
    // It is none the worse for it: with the other one gone it is who does everything.
    await cluster.workers.find(({ name }) => name === "waking")?.stop();
    const later = await playSessions(cluster, { count: 2, limitMs: 60_000 });
    return [
      noted("it was stopped for", `${((wokenAt - frozenAt) / 1000).toFixed(1)} s at a lease of ${leaseMs / 1000} s`),
      ...(await afterlife(cluster, sleeper, sessions, wokenAt)),
      ...(await examine(cluster, [...sessions, ...later], runs + 2)),
    ];
  },
};

/** What it began or wrote, once it was awake, in runs that somebody else had by then. */
async function afterlife(
  cluster: Cluster,
  sleeper: TroupeMember,
  sessions: readonly PlayedSession[],
  wokenAt: number,
): Promise<Verdict[]> {
  const runs = await readJournalStream(cluster.natsUrl);
  const own = new Set(sessions.map(({ session }) => session));
  const [life] = sleeper.lives;
  if (!life) throw new Error("the sleeper has not lived");
  const lost = [...runs.values()].filter((entries) => {
    const [first] = entries;
    const wasIts = entries.some((stored) => isBy(life, stored) && stored.storedAt < wokenAt);
    return first && own.has(first.entry.session) && wasIts && entries.some((stored) => !isBy(life, stored));
  });
  const written = lost.flatMap((entries) =>
    entries.filter((stored) => stored.storedAt >= wokenAt && isBy(life, stored)),
  );
  const ids = lost.flatMap(([first]) => (first ? [first.entry.run] : []));
  const calls = await ledgerOf(cluster.ledgerHome).calls(ids);
  const begun = calls.filter(({ pid, at }) => pid === life.pid && at >= wokenAt);
  return [
    { what: "runs that others took over from it", value: lost.length, wanted: "≥ 1", ok: lost.length > 0 },
    none(
      "entries that it wrote in them once it was awake",
      written.map(({ entry }) => `${entry.run}#${entry.index}`),
    ),
    none(
      "calls that it began in them once it was awake",
      begun.map(({ key }) => key),
    ),
  ];
}

function pidOf(member: TroupeMember): number {
  return member.living()?.pid ?? 0;
}
