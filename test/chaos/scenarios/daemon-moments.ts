import { setTimeout as delay } from "node:timers/promises";
import { failpoints } from "../../harness/failpoints.ts";
import { startCluster } from "../harness/cluster.ts";
import { castOf } from "../harness/company.ts";
import { eachSeed } from "../harness/each-seed.ts";
import { examine } from "../harness/examine.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { Life } from "../harness/member.ts";
import type { Scenario, Stage } from "../harness/scenario.ts";
import { askFor, awaitEnd } from "../harness/sessions.ts";
import { surePassings } from "../harness/sure-passings.ts";
import { all, atMost, type Verdict } from "../harness/verdict.ts";

const endMs = 120_000;
/** RELIABILITY's word for a daemon that comes back, at whatever lease, beside what a lease itself takes. */
const progressMs = 5_000;

/** A daemon for each moment, with agents that only it knows, so that nobody but its next life can go on. */
export const daemonMoments: Scenario = {
  name: "k2",
  what: "a daemon dies at each of twelve moments of its sessions, and comes back",
  long: { seeds: 20, leaseMs: 2_000 },
  short: {},
  play: (stage) => eachSeed(stage, playOnce),
};

async function playOnce({ settings, scope, folder, random }: Stage): Promise<Verdict[]> {
  const { leaseMs, slack } = settings;
  const casts = failpoints.map((point) => castOf(`-${point.replace(":", "-")}`));
  const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 60, casts });
  const doomed = await Promise.all(
    failpoints.map(async (point, i) => {
      const cast = casts[i] ?? castOf();
      const failpoint = `${point}#${1 + Math.floor(random() * surePassings[point])}`;
      const wish = { name: `daemon-${point.replace(":", "-")}`, casts: [cast], start: false };
      const daemon = await cluster.addDaemon(wish);
      await daemon.start({ TROUPE_TEST_FAILPOINT: failpoint });
      return { daemon, cast };
    }),
  );
  const signal = AbortSignal.timeout(2 * endMs);
  const played = doomed.map(async ({ daemon, cast }) => {
    const asking = askFor(cluster, { agent: cast.boss, daemons: [daemon], signal });
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
    ...(await examine(
      cluster,
      lives.map(({ session }) => session),
      failpoints.length,
    )),
  ];
}

/** From the moment when a daemon was ready again to the first entry of its session; null where nothing was left to do. */
function progressOf(next: Life, session: string, runs: Awaited<ReturnType<typeof readJournalStream>>): number | null {
  const after = [...runs.values()]
    .flat()
    .filter(({ entry, storedAt }) => entry.session === session && storedAt > next.startedAt)
    .map(({ storedAt }) => storedAt);
  return after.length === 0 || next.readyAt === null ? null : Math.max(0, Math.min(...after) - next.readyAt);
}
