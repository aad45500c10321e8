/**
 * Kills the daemon at seeded moments and starts it again: the session finishes, and no call with an outcome is
 * repeated. A ledger, which each call writes and syncs before it begins, shows the actual calls.
 */
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { writeBusySession } from "../harness/busy-session.ts";
import { type InProcessDaemon, startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { type Failpoint, failpoints } from "../harness/failpoints.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { casesOf, isLong } from "../harness/long.ts";
import { inDoubt, journaledTree, outcomesIn, recordedTree, unsafeWithoutOutcome } from "../harness/outcomes.ts";
import { seededRandom } from "../harness/seeded-random.ts";
import { responseOf, runsWhere } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

/** A session during which the daemon is killed. */
interface Play {
  what: string;
  /** Writes the required files into a home; returns the request. */
  write(home: string): Promise<{ scenario: string; agent?: string; workspace?: string }>;
  /** How many runs it leads to. */
  runs: number;
  /** How often each point is surely passed: the seed chooses one of these passings. */
  passings: Record<Failpoint, number>;
  /** The failpoints of the normal run. The long run takes all. */
  typical: readonly Failpoint[];
  /** How often it is killed at a moment that no point foresees, and when it surely is under way. */
  timed: { count: number; longCount: number; fromMs: number; toMs: number };
}

const plays: Play[] = [
  {
    what: "the demo",
    write: async (home) => ({ scenario: await writeFastDemo(home, 10) }),
    runs: 6,
    passings: {
      "claim:before": 6,
      "claim:after": 6,
      "intent:before": 3,
      "intent:after": 3,
      "effect:before": 24,
      "effect:after": 20,
      "append:before": 20,
      "append:after": 20,
      "settle:before": 6,
      "settle:after": 6,
      "ack:before": 6,
      "ack:after": 6,
    },
    // The other session has the rest.
    typical: [
      ...(["claim:before", "claim:after", "intent:before", "append:before"] as const),
      ...(["settle:before", "settle:after", "ack:before", "ack:after"] as const),
    ],
    timed: { count: 1, longCount: 8, fromMs: 200, toMs: 2_000 },
  },
  {
    what: "a graph of tasks with a retry, a summary, a stream of results and commands that a rule allows",
    write: (home) => writeBusySession(home, 100),
    runs: 9,
    passings: {
      "claim:before": 9,
      "claim:after": 9,
      "intent:before": 3,
      "intent:after": 3,
      "effect:before": 40,
      "effect:after": 30,
      "append:before": 30,
      "append:after": 30,
      "settle:before": 9,
      "settle:after": 9,
      "ack:before": 9,
      "ack:after": 9,
    },
    // Its entries differ from the demo's: retries, summaries and stream items. Its claims and ends do not.
    typical: ["intent:after", "effect:before", "effect:after", "append:after"],
    timed: { count: 1, longCount: 4, fromMs: 100, toMs: 1_200 },
  },
];

function momentsOf({ passings, typical, timed }: Play, playIndex: number) {
  const randomOf = (i: number) => seededRandom(100 * playIndex + i);
  const named = failpoints.map((point, i) => {
    const failpoint = `${point}#${1 + Math.floor(randomOf(i)() * passings[point])}`;
    return { point, name: failpoint, failpoint, killAfterMs: null };
  });
  const random = Array.from({ length: isLong ? timed.longCount : timed.count }, (_, i) => {
    const killAfterMs = timed.fromMs + Math.floor(randomOf(failpoints.length + i)() * (timed.toMs - timed.fromMs));
    return { name: `${killAfterMs} ms`, failpoint: null, killAfterMs };
  });
  return [...named.filter(({ point }) => isLong || typical.includes(point)), ...random];
}

describe.concurrent.each(plays.map((play, i) => ({ ...play, moments: momentsOf(play, i) })))(
  "a daemon killed in the middle of $what",
  ({ write, runs, moments }) => {
    it.for(moments)(
      "at $name loses nothing and repeats nothing",
      { timeout: 180_000 },
      async ({ failpoint, killAfterMs }, { expect, onTestFinished }) => {
        const test = { onTestFinished };
        const home = await tempFolder("kill", test);
        const asked = await write(home);
        const ledger = ledgerOf(home);
        const journal = () => readJournalFile(path.join(home, "journal.db"));

        const first = await startDaemon({
          home,
          test,
          env: { ...ledger.env, ...(failpoint ? { TROUPE_TEST_FAILPOINT: failpoint } : {}) },
        });
        // The kill may come before the answer to this: the session is kept all the same.
        const submitted = first.client.submit({ task: "survive", ...asked, origin: "api" }).catch(() => null);
        if (killAfterMs !== null) {
          await submitted;
          setTimeout(() => first.process.kill("SIGKILL"), killAfterMs);
        }
        expect((await first.ended).signal).toBe("SIGKILL");

        const before = journal();
        const done = new Set(outcomesIn(before));
        const startedUnsafe = unsafeWithoutOutcome(before);

        const second = await startDaemonInProcess({ home, env: ledger.env, test });
        const { session, status } = await settledSession(second);
        expect(status).toBe("completed");
        await second.stop();

        const after = journal();
        for (const entries of after.values()) {
          expect(chainProblems(entries)).toEqual([]);
          expect(entries.at(-1)?.entry.kind).toBe("run.settled");
        }
        expect(repeatedKeys(outcomesIn(after))).toEqual([]);

        const again = (await ledger.calls()).filter(({ pid }) => pid === second.pid).map(({ key }) => key);
        expect(again.filter((key) => done.has(key))).toEqual([]);
        expect(again.filter((key) => startedUnsafe.includes(key))).toEqual([]);
        expect(repeatedKeys(again)).toEqual([]);
        expect(inDoubt(after)).toEqual(startedUnsafe);
        expect(after.size).toBe(runs);
        expect(await recordedTree(home, session)).toEqual(journaledTree(after));
        await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
      },
    );
  },
);

describe.concurrent("a daemon killed as soon as it has accepted", () => {
  const commands = [
    { command: "a cancel", afterMs: 500 },
    { command: "a cancel", afterMs: 1_000 },
    { command: "a pause", afterMs: 400 },
    { command: "a pause", afterMs: 1_100 },
  ];
  it.for(casesOf(commands, ({ afterMs }) => afterMs <= 500))(
    "$command, $afterMs ms into a session, starts nothing more",
    { timeout: 180_000 },
    async ({ command, afterMs }, { expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("command", test);
      const asked = await writeBusySession(home, 100);
      const ledger = ledgerOf(home);
      const first = await startDaemon({ home, test, env: ledger.env });
      const { session, run } = await first.client.submit({ task: "survive", ...asked, origin: "api" });
      await delay(afterMs);
      const requested = command === "a cancel" ? first.client.cancel(session) : first.client.pause(run, "ada");
      expect(await requested).toMatchObject({ outcome: "requested" });
      await first.kill();

      const before = await ledger.calls();
      const done = new Set(outcomesIn(readJournalFile(path.join(home, "journal.db"))));
      const second = await startDaemonInProcess({ home, test, env: ledger.env });
      if (command === "a pause") {
        await runsWhere(second, session, (runs) =>
          runs.every(
            ({ completedAt, exactStatus }) => completedAt !== null || ["paused", "queued"].includes(exactStatus),
          ),
        );
        expect(await ledger.calls()).toEqual(before);
        await second.client.resume(run, "ada");
      }
      const { status } = await responseOf(second, session);
      expect(status).toBe(command === "a cancel" ? "cancelled" : "completed");
      await runsWhere(second, session, (runs) => runs.every(({ completedAt }) => completedAt !== null));
      await second.stop();
      const again = (await ledger.calls()).slice(before.length).map(({ key }) => key);
      if (command === "a cancel") expect(again).toEqual([]);
      expect(again.filter((key) => done.has(key))).toEqual([]);
      const after = readJournalFile(path.join(home, "journal.db"));
      expect([...after.keys()]).toContain(run);
      for (const entries of after.values()) expect(chainProblems(entries)).toEqual([]);
      expect(repeatedKeys(outcomesIn(after))).toEqual([]);
    },
  );
});

/** Follows the daemon's only session to its end. */
async function settledSession(daemon: InProcessDaemon) {
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

it("has a scenario for every failpoint, and some at random times", () => {
  const moments = plays.flatMap(momentsOf);
  const points = moments.flatMap(({ failpoint }) => failpoint?.split("#")[0] ?? []);
  expect(new Set(points)).toEqual(new Set(failpoints));
  expect(moments.filter(({ killAfterMs }) => killAfterMs !== null).length).toBeGreaterThanOrEqual(plays.length);
});
