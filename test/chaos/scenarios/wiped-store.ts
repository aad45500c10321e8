import { setTimeout as delay } from "node:timers/promises";
import { troupe } from "../../harness/cli.ts";
import { ledgerOf } from "../../harness/ledger.ts";
import { until } from "../../harness/until.ts";
import { treeAgents } from "../harness/agent-tree.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { none, noted, type OracleResult } from "../harness/oracle-result.ts";
import { entriesRecordedBy } from "../harness/record-oracle.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";

const { boss, ...children } = treeAgents();

/** Between two looks at the whole journal. */
const askAgainMs = 150;
/** How long everybody is left alone with a server that has forgotten everything. */
const lostMs = 5_000;

/** The server loses its disk. An operator restores the journal from a daemon's record, and the sessions go on. */
export const wipedStore: Scenario = {
  name: "n2",
  what: "nats-server loses its store, with sessions under way; `troupe nats restore` puts it back from a daemon's record",
  long: { runs: 20, workers: 2 },
  short: { runs: 1, workers: 1 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs, workers } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons: 0, workers: 0, latencyMs: 300 });
    const { nats, natsUrl } = cluster;
    const daemon = await cluster.addDaemon({ name: "daemon1", agents: [boss] });
    const names = Array.from({ length: workers }, (_, i) => `worker${i + 1}`);
    const workerMembers = await Promise.all(
      names.map((name) => cluster.addWorker({ name, agents: Object.values(children) })),
    );
    const members = [daemon, ...workerMembers];
    const playing = runSessions(cluster, { count: runs, spreadMs: 2_000, limitMs: 180_000 });
    const ledger = ledgerOf(cluster.ledgerHome);
    await until(async () => (await ledger.calls()).length >= 6 * runs);
    // Entries that no record has are lost with the disk. Freezing the workers lets the record catch up first.
    for (const worker of workerMembers) worker.freeze();
    await until(
      async () => entriesRecordedBy(daemon) === [...(await readJournalStream(natsUrl)).values()].flat().length,
      askAgainMs,
    );
    await nats.kill();
    await nats.wipe();
    await nats.start();
    for (const worker of workerMembers) worker.thaw();
    // A call may still begin within a lease that was confirmed before the loss.
    const lostAt = Date.now() + 0.6 * leaseMs;
    await delay(0.6 * leaseMs + lostMs);
    const begun = (await ledger.calls()).filter(({ at }) => at > lostAt);
    // The restore command requires that no process writes meanwhile.
    await Promise.all(members.map((member) => member.kill()));
    const restore = ["nats", "restore", "--nats", natsUrl, "--json"];
    const { code, stdout, stderr } = await troupe(restore, { home: daemon.home });
    const restored = [...(await readJournalStream(natsUrl)).values()].flat().length;
    await Promise.all(members.map((member) => member.start()));
    const sessions = await playing;
    const results: OracleResult[] = [
      none(
        "calls begun while the journal was lost",
        begun.map(({ key }) => key),
      ),
      {
        what: "troupe nats restore",
        value: code === 0 ? "0" : `${code}: ${stderr || stdout}`,
        wanted: "0",
        ok: code === 0,
      },
      noted("entries that it put back", restored),
    ];
    return [...results, ...(await checkCluster(cluster, sessions, runs))];
  },
};
