import { setTimeout as delay } from "node:timers/promises";
import { failpoints } from "../../harness/failpoints.ts";
import { startCluster, type TroupeMember } from "../harness/cluster.ts";
import { type Cast, castOf } from "../harness/company.ts";
import { eachSeed } from "../harness/each-seed.ts";
import { examine } from "../harness/examine.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import type { Scenario, Stage } from "../harness/scenario.ts";
import { askFor, awaitEnd } from "../harness/sessions.ts";
import { surePassings } from "../harness/sure-passings.ts";
import { takeoversOf } from "../harness/takeovers.ts";
import { all, atMost, noted, type Verdict } from "../harness/verdict.ts";

/** From the last death on, all of it together gets so long. */
const endMs = 120_000;

interface Doomed {
  name: string;
  cast: Cast;
  worker: TroupeMember;
  failpoint: string;
}

/**
 * A worker for each moment, which kills itself there, and one that takes all of their runs over: it stands still until
 * the last of them has died, so that nobody else is asked before that.
 */
export const workerMoments: Scenario = {
  name: "k1",
  what: "a worker dies at each of twelve moments of a delegation; another takes over",
  long: { seeds: 20, leaseMs: 2_000 },
  short: {},
  play: (stage) => eachSeed(stage, playOnce),
};

async function playOnce({ settings, scope, folder, random }: Stage): Promise<Verdict[]> {
  const { leaseMs, slack } = settings;
  const casts = failpoints.map((point) => castOf(`-${point.replace(":", "-")}`));
  const childrenOf = ({ builder, surveyor, checker }: Cast): string[] => [builder, surveyor, checker];
  const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 60, casts });
  const bosses = casts.map(({ boss }) => boss);
  await cluster.addDaemon({ name: "daemon1", agents: bosses });
  const survivor = await cluster.addWorker({ name: "survivor", agents: casts.flatMap(childrenOf), capacity: 64 });
  survivor.freeze();
  const doomed = await Promise.all(
    failpoints.map(async (point, i): Promise<Doomed> => {
      const cast = casts[i] ?? castOf();
      const failpoint = `${point}#${1 + Math.floor(random() * surePassings[point])}`;
      const name = `doomed-${point.replace(":", "-")}`;
      const env = { TROUPE_TEST_FAILPOINT: failpoint };
      const worker = await cluster.addWorker({ name, casts: [cast], agents: childrenOf(cast), env });
      return { name, cast, worker, failpoint };
    }),
  );
  const sessions = await Promise.all(doomed.map(({ cast }) => askFor(cluster, { agent: cast.boss })));
  const deaths = await Promise.all(
    doomed.map(({ worker }) => Promise.race([worker.ended(), delay(endMs).then(() => null)])),
  );
  survivor.thaw();
  const thawedAt = Date.now();
  const signal = AbortSignal.timeout(endMs);
  await Promise.all(sessions.map((played) => awaitEnd(cluster, played, signal)));
  const runs = await readJournalStream(cluster.natsUrl);
  const tookMs = deaths.flatMap((life) => takeoversOf(runs, life, thawedAt).map((one) => one.tookMs));
  const killed = deaths.filter((life) => life?.signal === "SIGKILL").length;
  return [
    all("workers that died at their moment", killed, failpoints.length),
    noted("runs taken over", tookMs.length),
    atMost("longest takeover", Math.max(0, ...tookMs), 1.5 * leaseMs * slack, " ms"),
    ...(await examine(cluster, sessions, failpoints.length)),
  ];
}
