/**
 * Kills the daemon at seeded moments and starts it again: the session finishes, and no call with an outcome is
 * repeated. A ledger, which each call writes and syncs before it begins, shows the actual calls.
 */
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { writeBusySession } from "../harness/busy-session.ts";
import {
  type DaemonOptions,
  type InProcessDaemon,
  startDaemon,
  startDaemonInProcess,
  startDoomedDaemon,
  submitToDoomedDaemon,
} from "../harness/daemon.ts";
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

/** A failpoint and its passing, or milliseconds after the session was accepted or the daemon started again. */
type Moment = `${Failpoint}#${number}` | number;

/** A session during which the daemon is killed. */
interface Play {
  what: string;
  /** Writes the required files into a home; returns the request. */
  write(home: string): Promise<{ scenario: string; agent?: string; workspace?: string }>;
  /** How many runs it leads to. */
  runs: number;
  /** Sessions of the normal run: each is killed at one moment after the other, and then finished. */
  kills: readonly (readonly Moment[])[];
  /** How often each point is surely passed. The long run kills a session at each point: the seed chooses the passing. */
  passings: Record<Failpoint, number>;
  /** The long run also kills it at moments that no point foresees, when it surely is under way. */
  timed: { count: number; fromMs: number; toMs: number };
}

const plays: Play[] = [
  {
    what: "the demo",
    write: async (home) => ({ scenario: await writeFastDemo(home, 10) }),
    runs: 6,
    kills: [["claim:before#2", "claim:after#3", "settle:before#1", "settle:after#1", "ack:before#1", "ack:after#1"]],
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
    timed: { count: 8, fromMs: 200, toMs: 2_000 },
  },
  {
    what: "a graph of tasks with a retry, a summary, a stream of results and commands that a rule allows",
    write: (home) => writeBusySession(home, 100),
    runs: 9,
    // Its entries differ from the demo's: retries, summaries and stream items. Its claims and ends do not.
    kills: [["effect:before#9", "append:before#8", "append:after#7"]],
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
    timed: { count: 4, fromMs: 100, toMs: 1_200 },
  },
];

/** One session for each moment. */
function singleKills({ passings, timed }: Play, playIndex: number): Moment[][] {
  const randomOf = (i: number) => seededRandom(100 * playIndex + i);
  const named = failpoints.map((point, i): Moment => `${point}#${1 + Math.floor(randomOf(i)() * passings[point])}`);
  const random = Array.from(
    { length: timed.count },
    (_, i) => timed.fromMs + Math.floor(randomOf(failpoints.length + i)() * (timed.toMs - timed.fromMs)),
  );
  return [...named, ...random].map((moment) => [moment]);
}

/** test/e2e/effects.test.ts kills at these in the normal run. */
const killedElsewhere: readonly Failpoint[] = ["intent:before", "intent:after", "effect:after"];

const killsOf = (play: Play, i: number) => (isLong ? singleKills(play, i) : play.kills);

describe.concurrent.each(
  plays.map((play, i) => ({
    ...play,
    sessions: killsOf(play, i).map((moments) => ({ moments, name: moments.join(", ") })),
  })),
)("a daemon killed in the middle of $what", ({ write, runs, sessions }) => {
  it.for(sessions)(
    "at $name loses nothing and repeats nothing",
    { timeout: 180_000 },
    async ({ moments }, { expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("kill", test);
      const asked = await write(home);
      const ledger = ledgerOf(home);
      const journal = () => readJournalFile(path.join(home, "journal.db"));

      /** Outcomes, and commands that started without one, before the process at work. */
      const done = new Set<string>();
      const startedUnsafe = new Set<string>();
      let begun = 0;
      const expectNothingAgain = async () => {
        const calls = await ledger.calls();
        const again = calls.slice(begun).map(({ key }) => key);
        expect(again.filter((key) => done.has(key) || startedUnsafe.has(key))).toEqual([]);
        expect(repeatedKeys(again)).toEqual([]);
        begun = calls.length;
      };

      for (const [i, moment] of moments.entries()) {
        if (i === 0) await killSession({ home, env: ledger.env, test, moment, asked });
        else await killAgain({ home, env: ledger.env, test, moment });
        await expectNothingAgain();
        const before = journal();
        for (const key of outcomesIn(before)) done.add(key);
        for (const key of unsafeWithoutOutcome(before)) startedUnsafe.add(key);
      }

      const last = await startDaemonInProcess({ home, env: ledger.env, test });
      const { session, status } = await settledSession(last);
      expect(status).toBe("completed");
      await last.stop();
      await expectNothingAgain();

      const after = journal();
      for (const entries of after.values()) {
        expect(chainProblems(entries)).toEqual([]);
        expect(entries.at(-1)?.entry.kind).toBe("run.settled");
      }
      expect(repeatedKeys(outcomesIn(after))).toEqual([]);
      expect(new Set(inDoubt(after))).toEqual(startedUnsafe);
      expect(after.size).toBe(runs);
      expect(await recordedTree(home, session)).toEqual(journaledTree(after));
      await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    },
  );
});

interface Killing extends DaemonOptions {
  moment: Moment;
}

/** Starts a daemon, asks it for a session, and kills it at the moment. */
async function killSession({
  moment,
  asked,
  ...options
}: Killing & { asked: Awaited<ReturnType<Play["write"]>> }): Promise<void> {
  const request = { task: "survive", ...asked, origin: "api" } as const;
  if (typeof moment === "string") {
    await submitToDoomedDaemon(atFailpoint(options, moment), request);
    return;
  }
  const daemon = await startDaemon(options);
  await daemon.client.submit(request);
  await delay(moment);
  await daemon.kill();
}

/** Starts a daemon of a home with a session, and kills it at the moment, which may come before it is ready. */
async function killAgain({ moment, ...options }: Killing): Promise<void> {
  if (typeof moment === "string") await startDoomedDaemon(atFailpoint(options, moment));
  else {
    await startDoomedDaemon(options, async (daemon) => {
      await daemon.waitForOutput(/"ready"/);
      await delay(moment);
      daemon.process.kill("SIGKILL");
    });
  }
}

function atFailpoint(options: DaemonOptions, moment: string): DaemonOptions {
  return { ...options, env: { ...options.env, TROUPE_TEST_FAILPOINT: moment } };
}

describe.concurrent("a daemon killed as soon as it has accepted a cancel and a pause", () => {
  it.for(casesOf([500, 400, 1_000, 1_100], (afterMs) => afterMs === 500))(
    "%d ms into two sessions, starts nothing more of them",
    { timeout: 180_000 },
    async (afterMs, { expect, onTestFinished }) => {
      const test = { onTestFinished };
      const home = await tempFolder("command", test);
      const asked = await writeBusySession(home, 100);
      const ledger = ledgerOf(home);
      const first = await startDaemon({ home, test, env: ledger.env });
      const submit = () => first.client.submit({ task: "survive", ...asked, origin: "api" });
      const [cancelled, paused] = await Promise.all([submit(), submit()]);
      await delay(afterMs);
      expect(await first.client.cancel(cancelled.session)).toMatchObject({ outcome: "requested" });
      expect(await first.client.pause(paused.run, "ada")).toMatchObject({ outcome: "requested" });
      await first.kill();

      const before = await ledger.calls();
      const journaled = readJournalFile(path.join(home, "journal.db"));
      const done = new Set(outcomesIn(journaled));
      const second = await startDaemonInProcess({ home, test, env: ledger.env });
      await runsWhere(second, paused.session, (runs) =>
        runs.every(
          ({ completedAt, exactStatus }) => completedAt !== null || ["paused", "queued"].includes(exactStatus),
        ),
      );
      expect((await responseOf(second, cancelled.session)).status).toBe("cancelled");
      await runsWhere(second, cancelled.session, (runs) => runs.every(({ completedAt }) => completedAt !== null));
      expect(await ledger.calls()).toEqual(before);

      await second.client.resume(paused.run, "ada");
      expect((await responseOf(second, paused.session)).status).toBe("completed");
      await runsWhere(second, paused.session, (runs) => runs.every(({ completedAt }) => completedAt !== null));
      await second.stop();
      const again = (await ledger.calls()).slice(before.length).map(({ key }) => key);
      expect(again.filter((key) => done.has(key))).toEqual([]);
      const after = readJournalFile(path.join(home, "journal.db"));
      expect([...after.keys()]).toEqual(expect.arrayContaining([cancelled.run, paused.run]));
      const ofCancelled = [...after].flatMap(([run, [first]]) =>
        first?.entry.session === cancelled.session ? [run] : [],
      );
      expect(again.filter((key) => ofCancelled.some((run) => key.startsWith(`${run}/`)))).toEqual([]);
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

it("has a kill for every failpoint", () => {
  const moments = plays.flatMap(killsOf).flat();
  const points = moments.flatMap((moment) => (typeof moment === "string" ? [moment.split("#")[0]] : []));
  expect(new Set([...points, ...killedElsewhere])).toEqual(new Set(failpoints));
});
