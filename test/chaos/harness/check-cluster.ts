import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findProcesses } from "../../harness/find-processes.ts";
import { ledgerOf } from "../../harness/ledger.ts";
import type { Cluster } from "./cluster.ts";
import { readJournalStream, readTaskStream } from "./journal-stream.ts";
import { all, none, noted, type OracleResult } from "./oracle-result.ts";
import { callOracle, chainOracle, type SuspendedProcess } from "./oracles.ts";
import { recordOracle } from "./record-oracle.ts";
import type { TestSession } from "./sessions.ts";

/** Leftover processes and tasks get this time to disappear. */
const settleMs = 30_000;
/** Between two looks at all processes and at the server. */
const lookAgainMs = 250;

/** After a fault: did everything complete, was nothing done twice, does the record say what the journal says? */
export async function checkCluster(
  cluster: Cluster,
  sessions: readonly TestSession[],
  count: number,
  suspended: SuspendedProcess | null = null,
): Promise<OracleResult[]> {
  const leftovers = await leftoverOracle(cluster);
  const runs = await readJournalStream(cluster.natsUrl);
  const calls = await ledgerOf(cluster.ledgerHome).calls();
  const ended = sessions.filter(({ response }) => response !== null);
  const incomplete = ended.filter(({ response }) => response?.status !== "completed");
  return [
    all("sessions completed", ended.length - incomplete.length, count),
    none("sessions that ended otherwise", incomplete.map(shown)),
    ...longest(sessions),
    noted("runs", runs.size),
    ...callOracle(runs, calls, suspended),
    await effectOracle(sessions),
    ...(await recordOracle(cluster.daemons, runs)),
    ...chainOracle(runs),
    ...leftovers,
  ];
}

function longest(sessions: readonly TestSession[]): OracleResult[] {
  const took = sessions.flatMap(({ askedAt, settledAt }) => (settledAt === null ? [] : [settledAt - askedAt]));
  took.sort((one, other) => one - other);
  const at = (share: number): string => `${((took[Math.ceil(share * took.length) - 1] ?? 0) / 1000).toFixed(1)} s`;
  return took.length === 0 ? [] : [noted("a session took: median, longest", `${at(0.5)}, ${at(1)}`)];
}

/** O3: nothing of anybody's commands lives on, and no task lies around. */
async function leftoverOracle({ natsUrl, mark }: Cluster): Promise<OracleResult[]> {
  const until = Date.now() + settleMs;
  for (;;) {
    const { tasks, held } = await readTaskStream(natsUrl);
    const processes = await findProcesses(mark);
    if ((tasks === 0 && processes.length === 0) || Date.now() > until) {
      return [
        none("O3 processes of tools that live on", processes),
        none(
          "O3 tasks left in the work queue",
          Array.from({ length: tasks }, (_, i) => (i < held ? "held" : "queued")),
        ),
      ];
    }
    await delay(lookAgainMs);
  }
}

/** O1: each command wrote its line at most once. */
async function effectOracle(sessions: readonly TestSession[]): Promise<OracleResult> {
  const expected: Record<string, number> = { plan: 1, build: 1, check: 2 };
  const found = await Promise.all(
    sessions.map(async ({ session, workspace }) => {
      const text = await readFile(path.join(workspace, "calls.txt"), "utf8").catch(() => "");
      const lines = text.split("\n").filter(Boolean);
      const over = Object.entries(expected).filter(
        ([word, most]) => lines.filter((line) => line === word).length > most,
      );
      return over.map(([word]) => `${session} ${word}`);
    }),
  );
  return none("O1 commands whose effect is there twice", found.flat());
}

function shown({ session, response }: TestSession): string {
  const error = response?.error ? `: ${response.error.type}, ${response.error.message}` : "";
  return `${session} ${response?.status}${error}`;
}
