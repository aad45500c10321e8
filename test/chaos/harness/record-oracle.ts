import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openSqlite } from "@troupe/recorder/internal";
import type { TroupeMember } from "./cluster.ts";
import { none, type OracleResult } from "./oracle-result.ts";
import type { StoredRuns } from "./oracles.ts";

/** A recorder that is behind gets so long to come up. */
const catchUpMs = 60_000;

interface Recorded {
  /** `run#index hash` of its copy of the journal. */
  entries: Set<string>;
  /** `run parent agent depth attempt end` of its tree. */
  tree: string[];
  quarantined: number;
}

/** O2: the record of every daemon equals the journal, entry by entry and as a tree. */
export async function recordOracle(daemons: readonly TroupeMember[], runs: StoredRuns): Promise<OracleResult[]> {
  const results = await Promise.all(daemons.map((daemon) => compare(daemon, runs)));
  return results.flat();
}

async function compare(daemon: TroupeMember, runs: StoredRuns): Promise<OracleResult[]> {
  const wanted = new Set([...runs.values()].flat().map(({ entry }) => `${entry.run}#${entry.index} ${entry.hash}`));
  const until = Date.now() + catchUpMs;
  let recorded = readRecord(daemon);
  while (recorded.entries.size < wanted.size && Date.now() < until) {
    await delay(100);
    recorded = readRecord(daemon);
  }
  const tree = treeOf(runs);
  const { name } = daemon;
  return [
    none(
      `O2 entries that ${name} has not recorded`,
      [...wanted].filter((entry) => !recorded.entries.has(entry)),
    ),
    none(`O2 entries that ${name} has recorded and the journal has not`, [
      ...[...recorded.entries].filter((entry) => !wanted.has(entry)),
    ]),
    none(`O2 runs that ${name} shows otherwise than the journal`, differences(tree, recorded.tree)),
    none(
      `O2 items that ${name} has put aside`,
      Array.from({ length: recorded.quarantined }, () => "one"),
    ),
  ];
}

function differences(one: readonly string[], other: readonly string[]): string[] {
  const [ones, others] = [new Set(one), new Set(other)];
  return [...one.filter((row) => !others.has(row)), ...other.filter((row) => !ones.has(row))];
}

function treeOf(runs: StoredRuns): string[] {
  return [...runs.values()].flatMap((entries) => {
    const [first, last] = [entries[0]?.entry, entries.at(-1)?.entry];
    if (first?.kind !== "run.opened") return [];
    const { run, parent, agent, attempt, depth } = first.request;
    const end = last?.kind === "run.settled" ? last.response.status : "open";
    // A child that no host could take is only in its parent's journal.
    const notStarted = entries.flatMap(({ entry }) => {
      if (entry.kind !== "child.settled" || runs.has(entry.response.runId)) return [];
      const { response } = entry;
      return [[response.runId, run, response.agent, depth + 1, entry.attempt, response.status].join(" ")];
    });
    return [[run, parent?.run ?? null, agent, depth, attempt, end].join(" "), ...notStarted];
  });
}

/** May be read while its process writes it. */
function readRecord({ home }: TroupeMember): Recorded {
  const database = openSqlite(path.join(home, "troupe.db"), { readOnly: true });
  try {
    const entries = database.prepareValue<[], string>("SELECT run_id || '#' || idx || ' ' || hash FROM entries");
    const runs = database.prepare<[], TreeRow>(
      `SELECT r.run_id, r.parent_run, m.agent_role, m.agent_depth, r.attempt, r.exact_status
       FROM runs r JOIN messages m ON m.id = r.message_id`,
    );
    const quarantine = database.prepareValue<[], number>("SELECT count(*) FROM quarantine");
    return {
      entries: new Set(entries.all()),
      tree: runs
        .all()
        .map((row) =>
          [row.run_id, row.parent_run, row.agent_role, row.agent_depth, row.attempt, row.exact_status].join(" "),
        ),
      quarantined: quarantine.get() ?? 0,
    };
  } finally {
    database.close();
  }
}

interface TreeRow {
  run_id: string;
  parent_run: string | null;
  agent_role: string;
  agent_depth: number;
  attempt: number;
  exact_status: string;
}

/** How many entries it has taken in so far. */
export function entriesRecordedBy({ home }: TroupeMember): number {
  const database = openSqlite(path.join(home, "troupe.db"), { readOnly: true });
  try {
    return database.prepareValue<[], number>("SELECT count(*) FROM entries").get() ?? 0;
  } finally {
    database.close();
  }
}
