import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { troupe } from "../../harness/cli.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { all, noted, type OracleResult } from "../harness/oracle-result.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

/** A flipped bit on the server's disk must be detected. No reader may receive an entry that was not written. */
export const corruption: Scenario = {
  name: "d2",
  what: "one bit of the journal's file on the server flips while it is down; the check finds it, and the journal is restored",
  long: { runs: 10, leaseMs: 2_000, workers: 1 },
  short: { runs: 1, workers: 0, inProcess: true },
  async run({ settings, scope, folder, random }) {
    const { leaseMs, runs, workers, inProcess } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, inProcess, daemons: 1, workers, latencyMs: 50 });
    const { nats, natsUrl } = cluster;
    const members = [...cluster.daemons, ...cluster.workers];
    const [daemon] = cluster.daemons;
    if (!daemon) throw new Error("no daemon");
    const sessions = await runSessions(cluster, { count: runs, limitMs: 180_000 });
    const before = [...(await readJournalStream(natsUrl)).values()].flat().length;
    await Promise.all(members.map((member) => member.stop()));
    await nats.kill();
    await flipBit(nats.store, random);
    await nats.start();
    const left = [...(await readJournalStream(natsUrl)).values()].flat().length;
    const check = await troupe(["nats", "check", "--nats", natsUrl], { home: daemon.home });
    const restore = await troupe(["nats", "restore", "--nats", natsUrl], { home: daemon.home });
    await Promise.all(members.map((member) => member.start()));
    const restored = [...(await readJournalStream(natsUrl)).values()].flat().length;
    const results: OracleResult[] = [
      noted("entries that the server still had, without a word of it", `${left} of ${before}`),
      { what: "troupe nats check says so", value: `exit ${check.code}`, wanted: "exit 1", ok: check.code === 1 },
      { what: "troupe nats restore", value: `exit ${restore.code}`, wanted: "exit 0", ok: restore.code === 0 },
      all("entries after it", restored, before),
    ];
    return [...results, ...(await checkCluster(cluster, sessions, runs))];
  },
};

/** Somewhere in the middle of the largest file that the journal's stream has there. */
async function flipBit(store: string, random: () => number): Promise<void> {
  const files = (await readdir(store, { recursive: true })).filter((name) => /troupe_journal.*\.blk$/.test(name));
  const [file] = files;
  if (!file) throw new Error("the stream has no file");
  const bytes = await readFile(path.join(store, file));
  const at = Math.floor(bytes.byteLength * (0.3 + 0.4 * random()));
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path.join(store, file), bytes);
}
