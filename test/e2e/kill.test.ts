/**
 * `kill -9` of the daemon at seeded moments of the demo, then `troupe up` again: the session finishes by itself, and no
 * call that had an outcome is made again. What was called is read from a ledger that the calls themselves write,
 * synced to disk, outside of anything that could resume.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { answeredEffect, type Entry } from "@troupe/core";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { startDaemon, type TestDaemon } from "../harness/daemon.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { seededRandom } from "../harness/seeded-random.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** How often each point is surely passed in the demo: the seed chooses one of these passings. */
const passings = {
  "claim:before": 6,
  "claim:after": 6,
  "intent:before": 1,
  "intent:after": 1,
  "effect:before": 24,
  "effect:after": 20,
  "append:before": 20,
  "append:after": 20,
  "settle:before": 6,
  "settle:after": 6,
  "ack:before": 6,
  "ack:after": 6,
} as const;

const points = Object.keys(passings) as (keyof typeof passings)[];

const moments = Array.from({ length: 20 }, (_, seed) => {
  const random = seededRandom(seed);
  const point = points[seed];
  if (point) {
    const failpoint = `${point}#${1 + Math.floor(random() * passings[point])}`;
    return { name: failpoint, failpoint, killAfterMs: null };
  }
  const killAfterMs = 200 + Math.floor(random() * 1_800);
  return { name: `${killAfterMs} ms`, failpoint: null, killAfterMs };
});

describe.concurrent("a daemon killed in the middle of the demo", () => {
  it.for(moments)(
    "at $name loses nothing and repeats nothing",
    { timeout: 60_000 },
    async (moment, { expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("kill", test);
      const scenario = await writeFastDemo(home, 10);
      const ledger = path.join(home, "ledger.jsonl");
      const env = { TROUPE_TEST_LEDGER: ledger };

      const first = await startDaemon({
        home,
        test,
        env: { ...env, ...(moment.failpoint ? { TROUPE_TEST_FAILPOINT: moment.failpoint } : {}) },
      });
      // The kill may come before the answer to this: the session is kept all the same.
      const submitted = first.client.submit({ task: "survive", scenario, origin: "api" }).catch(() => null);
      if (moment.killAfterMs !== null) {
        await submitted;
        setTimeout(() => first.process.kill("SIGKILL"), moment.killAfterMs);
      }
      expect((await first.ended).signal).toBe("SIGKILL");

      const before = readJournalFile(path.join(home, "journal.db"));
      const done = outcomesOf(before);
      const startedUnsafe = unsafeWithoutOutcome(before);

      const second = await startDaemon({ home, env, test });
      const session = await settledSession(second);
      expect(session.status).toBe("completed");
      await second.stop();

      const after = readJournalFile(path.join(home, "journal.db"));
      for (const entries of after.values()) {
        expect(chainProblems(entries)).toEqual([]);
        expect(entries.at(-1)?.entry.kind).toBe("run.settled");
      }
      expect(twiceAnswered(after)).toEqual([]);

      const calls = await readLedger(ledger);
      const repeated = calls.filter(({ pid, key }) => pid === second.pid && done.has(key));
      expect(repeated).toEqual([]);
      const unsafeAgain = calls.filter(({ pid, key }) => pid === second.pid && startedUnsafe.includes(key));
      expect(unsafeAgain).toEqual([]);
      expect(inDoubt(after)).toEqual(startedUnsafe);
      expect(after.size).toBe(6);
      expect(recordedRuns(home)).toEqual([...after.keys()].sort());
    },
  );
});

interface Call {
  pid: number;
  key: string;
}

async function readLedger(file: string): Promise<Call[]> {
  const text = await readFile(file, "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Call);
}

type Runs = ReturnType<typeof readJournalFile>;

function allEntries(runs: Runs): Entry[] {
  return [...runs.values()].flat().map(({ entry }) => entry);
}

/** Calls with an outcome, named as the ledger names them. */
function outcomesOf(runs: Runs): Set<string> {
  return new Set(answersOf(runs));
}

function answersOf(runs: Runs): string[] {
  return allEntries(runs).flatMap((entry) => {
    const key = answeredEffect(entry);
    return key === null ? [] : [`${entry.run}/${key}`];
  });
}

function twiceAnswered(runs: Runs): string[] {
  const answers = answersOf(runs);
  return answers.filter((key, i) => answers.indexOf(key) !== i);
}

function unsafeWithoutOutcome(runs: Runs): string[] {
  const done = outcomesOf(runs);
  return allEntries(runs)
    .flatMap((entry) => (entry.kind === "tool.started" ? [`${entry.run}/tool/${entry.step}/${entry.call}`] : []))
    .filter((key) => !done.has(key));
}

function inDoubt(runs: Runs): string[] {
  return allEntries(runs).flatMap((entry) =>
    entry.kind === "tool.finished" && entry.outcome.inDoubt ? [`${entry.run}/tool/${entry.step}/${entry.call}`] : [],
  );
}

/** Follows the daemon's only session to its end. */
async function settledSession(daemon: TestDaemon) {
  const stop = new AbortController();
  try {
    for await (const event of daemon.client.events({ after: 0, signal: stop.signal })) {
      if (event.type !== "change") continue;
      const settled = event.change.sessions.find(({ status }) => status !== "pending" && status !== "running");
      if (settled) return settled;
    }
  } finally {
    stop.abort();
  }
  throw new Error("the event stream ended before the session did");
}

function recordedRuns(home: string): string[] {
  const database = new Database(path.join(home, "troupe.db"), { readonly: true });
  const rows = database.prepare<[], { run_id: string }>("SELECT run_id FROM runs ORDER BY run_id").all();
  database.close();
  return rows.map(({ run_id }) => run_id);
}

it("has a moment for every point, and some that no point foresees", () => {
  expect(moments.filter(({ failpoint }) => failpoint !== null)).toHaveLength(points.length);
  expect(moments.filter(({ killAfterMs }) => killAfterMs !== null)).toHaveLength(8);
});
