import { until } from "../../harness/until.ts";
import { checkCluster } from "../harness/check-cluster.ts";
import { cloneSession } from "../harness/clone-session.ts";
import { startCluster } from "../harness/cluster.ts";
import { readJournalStream } from "../harness/journal-stream.ts";
import { all, atMost, noted } from "../harness/oracle-result.ts";
import { entriesRecordedBy } from "../harness/record-oracle.ts";
import type { Scenario } from "../harness/scenario.ts";
import { runSessions } from "../harness/sessions.ts";
import { openSharedJournal } from "../harness/shared-journal.ts";

/** RELIABILITY's word for a hundred thousand. */
const catchUpMs = 60_000;
/** Sessions that are written at once. */
const writersMax = 16;

/** A recorder that was away for a day has a day to read. */
export const catchUp: Scenario = {
  name: "n6",
  what: "a daemon (its recorder) is down while --runs sessions of about 40 entries are written, and comes back",
  long: { runs: 2_500, daemons: 2, workers: 0 },
  short: { runs: 8, daemons: 2, workers: 0 },
  async run({ settings, scope, folder }) {
    const { leaseMs, runs: sessions, daemons, slack } = settings;
    const cluster = await startCluster({ scope, folder, leaseMs, daemons, workers: 0, latencyMs: 20 });
    const [away] = cluster.daemons;
    if (!away) throw new Error("no daemon");
    const [played] = await runSessions(cluster, { count: 1, limitMs: 180_000 });
    await away.kill();
    const before = await readJournalStream(cluster.natsUrl);
    const journal = await openSharedJournal(cluster.natsUrl, leaseMs, scope);
    const writeOne = async (): Promise<void> => {
      for (const { session, run, entries } of cloneSession(before, played?.session ?? "")) {
        const result = await journal.append({ session, run, after: -1, entries, terminal: true });
        if (!result.ok) throw new Error(`a cloned run met a conflict: ${run}`);
      }
    };
    let left = sessions;
    const writer = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await writeOne();
      }
    };
    await Promise.all(Array.from({ length: writersMax }, writer));
    const written = [...(await readJournalStream(cluster.natsUrl)).values()].flat().length;
    const { readyAt } = await away.start();
    const recordedAt = await until(() => entriesRecordedBy(away) >= written && Date.now());
    return [
      noted("entries written while it was down", written - [...before.values()].flat().length),
      atMost("from being up again to having all of them", recordedAt - (readyAt ?? 0), catchUpMs * slack, " ms"),
      all("rows of its record, one for each entry", entriesRecordedBy(away), written),
      ...(await checkCluster(cluster, played ? [played] : [], 1)),
    ];
  },
};
