/**
 * Measures the queries over a record of many rows, beside bare SQL that reads the same rows.
 *
 * node test/bench/record-cost.ts [rows]
 */
import { mkdtempDisposable, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openRecord } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";
import { watchLoopLag } from "./loop-lag.ts";
import { writeGeneratedRecord } from "./record-rows.ts";

const callsMeasured = 15;

await using folder = await mkdtempDisposable(join(tmpdir(), "troupe-bench-record-"));
const file = join(folder.path, "troupe.db");
const { wideSession, rows } = await writeGeneratedRecord(file, Number(process.argv[2] ?? 1_000_000));
const record = await openRecord({ file });
const { queries } = record.reader;
const fillMs = await once(fillCosts);
const bare = openSqlite(file, { readOnly: true });

const find = (words: string, agent: string | null = null, sinceMs: number | null = null) =>
  queries.search({ words, agent, sinceMs, after: null, limit: 20 });
const bareTree = bare.prepare<[string], unknown>(
  "SELECT r.*, substr(m.request_content, 1, 300) FROM runs r JOIN messages m ON m.id = r.message_id WHERE r.session_id = ?",
);
const bareSearch = bare.prepare<[string], unknown>(
  "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 20",
);
const bareList = bare.prepare<[], unknown>("SELECT * FROM sessions ORDER BY turn_started_at DESC LIMIT 50");
const lastDay = Date.UTC(2026, 0, 1) + (rows - 17_280) * 5_000;

const report = {
  rows,
  megabytes: Math.round((await stat(file)).size / 1e6),
  treeMs: await median(() => queries.tree(wideSession, { after: -1, limit: 1_000 })),
  treeFloorMs: await median(() => bareTree.all(wideSession)),
  sessionMs: await median(() => record.reader.session(wideSession)),
  searchCommonMs: await median(() => find("w0 w1")),
  searchRareMs: await median(() => find("needle")),
  searchAgentMs: await median(() => find("w0", "news_writer")),
  searchSinceMs: await median(() => find("needle", null, lastDay)),
  searchPrefixMs: await median(() => find("need*")),
  searchFloorMs: await median(() => bareSearch.all('"w0" AND "w1"')),
  listMs: await median(() => record.reader.sessions({ limit: 50 })),
  listFloorMs: await median(() => bareList.all()),
  idMs: await median(() => queries.idsWith(wideSession.slice(0, 8), { limit: 6 })),
  costsDayMs: await once(() => queries.costs({ by: "agent", sinceMs: lastDay })),
  ...(await costsOfAll()),
  fillMs,
};
console.log(JSON.stringify(report));
bare.close();
record.close();

/** The recorder does the same for a record of an older version. */
async function fillCosts(): Promise<void> {
  while (record.fillCosts()) await nextTurn();
}

async function costsOfAll() {
  const lag = watchLoopLag();
  const costsAllMs = await once(() => queries.costs({ by: "agent", sinceMs: null }));
  return { costsAllMs, costsLagMaxMs: lag.stop().maxMs };
}

async function once(act: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await act();
  return performance.now() - startedMs;
}

/** The median of several calls, after one that fills the caches. */
async function median(act: () => unknown): Promise<number> {
  await act();
  const values: number[] = [];
  for (let i = 0; i < callsMeasured; i += 1) values.push(await once(act));
  return values.sort((a, b) => a - b)[Math.floor(callsMeasured / 2)] ?? 0;
}
