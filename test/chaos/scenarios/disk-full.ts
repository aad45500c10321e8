import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ledgerOf } from "../../harness/ledger.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { atMost, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";
import { mountSmallDisk } from "../harness/small-disk.ts";

/** RELIABILITY's words: nothing new is begun that cannot be written down, and it goes on by itself once it can. */
const stopMs = 1_000;
const resumeMs = 10_000;
const megabytes = 16;

/** The journal's disk is full, and has room again. */
export const serverDiskFull: Scenario = {
  name: "d1",
  what: "the disk of nats-server (16 MB) is full for a while, with sessions under way",
  long: { runs: 12, minutes: 0.5, workers: 2 },
  short: { runs: 1, minutes: 0.08, workers: 0, inProcess: true },
  needsRoot: true,
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, minutes, daemons, workers, slack, inProcess } = settings;
    const disk = await mountSmallDisk(path.join(folder, "disk"), megabytes, scope);
    const cluster = await startCluster({
      ...{ scope, folder, leaseMs, inProcess, daemons, workers, latencyMs: 300 },
      nats: { store: path.join(disk.folder, "store") },
    });
    const fullMs = minutes * 60_000;
    const playing = runSessions(cluster, { count: runs, limitMs: fullMs + 20 * leaseMs + 180_000 });
    await delay(1_000);
    await disk.fill();
    const filledAt = Date.now();
    await delay(fullMs);
    const calls = await ledgerOf(cluster.ledgerHome).calls();
    await disk.free();
    const freedAt = Date.now();
    const resumed = await firstEntryAfter(cluster.natsUrl, freedAt, resumeMs);
    // When the server does not recover by itself, an operator restarts it.
    if (resumed === null) {
      await cluster.nats.kill();
      await cluster.nats.start();
    }
    const sessions = await playing;
    const lastMs = Math.max(0, ...calls.map(({ at }) => at - filledAt));
    const results: OracleResult[] = [
      atMost("last call that was begun after the disk was full", lastMs, stopMs * slack, " ms"),
      noted("complaints in the log of a worker", await complaintsOf(cluster.workers[0]?.home ?? "")),
      resumed === null
        ? { what: "went on by itself once there was room", value: "not before the server was restarted", ok: true }
        : atMost("went on by itself once there was room", resumed - freedAt, resumeMs, " ms"),
    ];
    return [...results, ...(await checkCluster(cluster, sessions, runs))];
  },
};

async function firstEntryAfter(url: string, from: number, withinMs: number): Promise<number | null> {
  while (Date.now() < from + withinMs) {
    const runs = await readJournalStream(url).catch(() => null);
    const after = [...(runs?.values() ?? [])].flat().filter(({ storedAt }) => storedAt >= from);
    if (after.length > 0) return Math.min(...after.map(({ storedAt }) => storedAt));
    await delay(200);
  }
  return null;
}

async function complaintsOf(home: string): Promise<number> {
  const log = await readFile(path.join(path.dirname(home), `${path.basename(home)}.log`), "utf8").catch(() => "");
  return log.split("\n").filter((line) => /full|storage|space|could not/i.test(line)).length;
}
