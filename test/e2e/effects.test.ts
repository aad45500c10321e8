/**
 * Kills the daemon between a tool's plan and its effect, during the effect, and between effect and outcome. The
 * promises of each effect class (RELIABILITY T5) must hold for real files and commands.
 */
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Entry, ToolOutcome } from "@troupe/core";
import { estimatedCallWarning } from "@troupe/core/internal";
import { readSessionFeed } from "@troupe/recorder";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess, startDoomedDaemon } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { casesOf, isLong } from "../harness/long.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

interface Call {
  tool: string;
  args: Record<string, string | number>;
}

/** A daemon is killed at a point of one call. */
interface Kill {
  /** A failpoint, with `+<ms>` for so much later. */
  point: string;
  when: string;
}

/** Effect key of the call that is interrupted by the i-th kill: the model has read the files before. */
const keyOf = (i: number) => `tool/${2 + i}/0`;

interface Killed {
  /** Journaled outcome of the interrupted call, after the session settled. */
  outcome: ToolOutcome;
  /** How often the tool was begun, before the kill and after it. */
  begun: [number, number];
  /** The file of the call right after the kill, and at the end. */
  found: Look;
  left: Look;
}

interface Look {
  text: string;
  /** A file that is written anew is another one. */
  inode: number;
}

const look = async (file: string): Promise<Look> => ({
  text: await readFile(file, "utf8"),
  inode: (await stat(file)).ino,
});

/**
 * Plays a session that makes a call in a turn of its own for each kill, each on a file of its own. Each daemon is killed at
 * its call, and the next one goes on with the session. The last daemon finishes it.
 */
async function killAtEach(
  kills: readonly Kill[],
  callOn: (file: string) => Call,
  test: Pick<TestContext, "onTestFinished" | "expect">,
  meanwhile: (file: string) => Promise<unknown> = async () => {},
) {
  const { expect } = test;
  const home = await tempFolder("effects", test);
  const workspace = await tempFolder("effects-work", test);
  const names = kills.map((_, i) => `${i}.txt`);
  const files = names.map((name) => path.join(workspace, name));
  for (const file of files) await writeFile(file, "old\n");
  const reads = names.map((name) => ({ tool: "read", args: { path: name } }));
  const turns = names.map((name) => ({ calls: [callOn(name)] }));
  const scenario = await writeScenario(home, { main: [{ steps: [{ calls: reads }, ...turns, { text: "done" }] }] });
  const ledger = ledgerOf(home);

  let submitted = { session: "", run: "" };
  const pids: (number | undefined)[] = [];
  const found: Look[] = [];
  for (const [i, { point }] of kills.entries()) {
    const [name, afterMs] = point.split("+");
    const failpoint = `${name}@${keyOf(i)}${afterMs === undefined ? "" : `+${afterMs}`}`;
    const env = { ...ledger.env, TROUPE_TEST_FAILPOINT: failpoint };
    if (i === 0) {
      const daemon = await startDaemon({ home, test, env });
      submitted = await daemon.client.submit({ task: "survive", scenario, workspace, origin: "api" });
      expect((await daemon.ended).signal).toBe("SIGKILL");
      pids.push(daemon.pid);
    } else {
      const daemon = startDoomedDaemon({ home, test, env });
      await daemon.ended;
      expect(daemon.process.signalCode, daemon.stderr()).toBe("SIGKILL");
      pids.push(daemon.process.pid);
    }
    const file = files[i] ?? "";
    found.push(await look(file));
    await meanwhile(file);
  }

  const { session, run } = submitted;
  const last = await startDaemonInProcess({ home, test, env: ledger.env });
  const response = await responseOf(last, session);
  await last.stop();
  const journal = readJournalFile(path.join(home, "journal.db"));
  const entries = journal.get(run) ?? [];
  expect(chainProblems(entries)).toEqual([]);
  expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
  await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));

  const calls = await ledger.calls();
  const killed = await Promise.all(
    files.map(async (file, i): Promise<Killed> => {
      const earlier = pids.slice(0, i + 1);
      const own = calls.filter((one) => one.key === `${run}/${keyOf(i)}`);
      const before = own.filter(({ pid }) => earlier.includes(pid)).length;
      return {
        outcome: outcomeOf(
          entries.map(({ entry }) => entry),
          keyOf(i),
        ),
        begun: [before, own.length - before],
        found: found[i] ?? { text: "", inode: 0 },
        left: await look(file),
      };
    }),
  );
  return {
    killed,
    /** The response that reached the model. */
    response,
    /** `troupe sessions replay` of the session. */
    replay: () => troupe(["sessions", "replay", session], { home }),
  };
}

/** One session for all kills of the normal run, and one for each kill of the long run. */
function sessionsOf<One extends Kill>(kills: readonly One[]): { when: string; kills: readonly One[] }[] {
  const sessions = isLong ? kills.map((kill) => [kill]) : [kills].filter(({ length }) => length > 0);
  return sessions.map((each) => ({ when: each.map(({ when }) => when).join(", then "), kills: each }));
}

function outcomeOf(entries: readonly Entry[], key: string): ToolOutcome {
  const finished = entries.find(
    (entry) => entry.kind === "tool.finished" && `tool/${entry.step}/${entry.call}` === key,
  );
  if (finished?.kind !== "tool.finished") throw new Error("the call has no outcome");
  return finished.outcome;
}

const timeout = 180_000;

describe.concurrent("a command, which cannot be reverted", { timeout }, () => {
  const callOn = (file: string) => shell(`echo once >> ${file}`);

  const certain = [
    { point: "effect:before", when: "before it was announced", begun: [0, 1] },
    { point: "intent:before", when: "during its announcement", begun: [0, 1] },
    { point: "append:after", when: "after its outcome was journaled", begun: [1, 0] },
  ];
  // Before its announcement, nothing of the call is in the journal, as during it. test/e2e/kill.test.ts kills after an append.
  it.for(sessionsOf(casesOf(certain, ({ point }) => point === "intent:before")))(
    "killed $when, runs once and is not in doubt",
    async ({ kills }, test) => {
      const { killed } = await killAtEach(kills, callOn, test);
      for (const [i, { begun }] of kills.entries()) {
        test
          .expect(killed[i])
          .toMatchObject({ begun, left: { text: "old\nonce\n" }, outcome: { inDoubt: false, error: null } });
      }
    },
  );

  const doubtful = [
    { point: "intent:after", when: "between announcement and start", begun: 0, lines: [0] },
    { point: "intent:after+3", when: "around its start", begun: 1, lines: [0, 1] },
    { point: "effect:after", when: "between its end and its outcome", begun: 1, lines: [1] },
  ];
  it.for(sessionsOf(casesOf(doubtful, ({ point }) => !point.includes("+"))))(
    "killed $when, is in doubt, is reported as such, and never runs again",
    async ({ kills }, test) => {
      const { expect } = test;
      const { killed, response } = await killAtEach(kills, callOn, test);
      // The same warning of several calls is reported once.
      const warnings = [expect.stringMatching(/^shell was interrupted/)];
      expect(response).toMatchObject({ success: true, warnings });
      for (const [i, { point, begun, lines }] of kills.entries()) {
        const one = killed[i];
        expect(one?.begun[1]).toBe(0);
        if (!point.includes("+")) expect(one?.begun[0]).toBe(begun);
        expect(one?.outcome).toMatchObject({ inDoubt: true, output: expect.stringContaining("IN DOUBT") });
        const text = one?.left.text;
        expect(lines.map((count) => `old\n${"once\n".repeat(count)}`)).toContain(text);
        // The next daemon compares the folder with the scan that the killed one made before the command.
        const modified = { path: `${i}.txt`, kind: "modified", diff: expect.stringContaining("+once") };
        const changed = text === "old\n" ? [] : [modified];
        expect(one?.outcome.changes).toMatchObject(changed);
        expect(one?.outcome.changes).toHaveLength(changed.length);
      }
    },
  );
});

describe.concurrent("a read", { timeout }, () => {
  const points = ["effect:before", "effect:after", "append:before"];
  const typical = casesOf(points, (point) => point === "effect:after");
  it.for(sessionsOf(typical.map((point) => ({ point, when: `at ${point}` }))))(
    "killed $when, is repeated",
    async ({ kills }, test) => {
      const { expect } = test;
      const callOn = (file: string) => ({ tool: "read", args: { path: file, limit: 1 } });
      const { killed, replay } = await killAtEach(kills, callOn, test);
      for (const { outcome, begun } of killed) {
        expect(outcome).toMatchObject({ inDoubt: false, error: null, output: expect.stringContaining("old") });
        expect(begun[1]).toBe(1);
      }
      expect(await replay()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^same/) });
    },
  );
});

/** The second and the third would do something else if they were done twice. */
const edits: { what: string; callOn(file: string): Call; text: string }[] = [
  {
    what: "a write",
    callOn: (file) => ({ tool: "write", args: { path: file, content: "new\n" } }),
    text: "new\n",
  },
  {
    what: "an edit",
    callOn: (file) => ({ tool: "edit", args: { path: file, old: "old", new: "old, once" } }),
    text: "old, once\n",
  },
  {
    what: "a patch",
    callOn: (file) => ({
      tool: "apply_patch",
      args: { patch: `--- a/${file}\n+++ b/${file}\n@@ -1 +1,2 @@\n old\n+once\n` },
    }),
    text: "old\nonce\n",
  },
];

describe.concurrent.each(edits)("$what, which can be verified", { timeout }, ({ what, callOn, text }) => {
  const isWrite = what === "a write";
  const moments = [
    { point: "effect:before", when: "before it was planned", again: 1 },
    { point: "intent:before", when: "before its plan was journaled", again: 1 },
    { point: "intent:after", when: "between plan and effect", again: 1 },
    { point: "effect:after", when: "between effect and outcome", again: 0 },
    { point: "append:after", when: "after its outcome was journaled", again: 0 },
    { point: "intent:after+1", when: "in the middle", again: null },
    { point: "intent:after+4", when: "in the middle, a little later", again: null },
  ];
  // All three tools share the journal's order and the writer of files. An effect that is there must not be repeated; that each
  // tool sees whether it is there, packages/tools/src/files tests too.
  const tellsTools = ["effect:after"];
  const tellsJournal = ["intent:before", "intent:after", "intent:after+1"];
  const typical = casesOf(
    moments,
    ({ point }) => tellsTools.includes(point) || (isWrite && tellsJournal.includes(point)),
  );
  it.for(sessionsOf(typical))("killed $when, is complete and done once", async ({ kills }, test) => {
    const { expect } = test;
    const { killed, response } = await killAtEach(kills, callOn, test);
    expect(killed).toHaveLength(kills.length);
    for (const [i, { outcome, begun, found, left }] of killed.entries()) {
      const again = kills[i]?.again ?? null;
      const wasDone = found.text === text;
      if (again !== null) expect(wasDone).toBe(again === 0);
      expect(["old\n", text]).toContain(found.text);
      expect(left.text).toBe(text);
      expect(begun[1]).toBe(wasDone ? 0 : 1);
      if (wasDone) expect(left).toEqual(found);
      const changes = [{ path: `${i}.txt`, kind: "modified" }];
      expect(outcome).toMatchObject({ inDoubt: false, error: null, changes });
      // When the write happened without an outcome, the old content is known only by its version.
      if (!wasDone) expect(outcome.changes[0]?.linesAdded).toBe(1);
    }
    expect(response.warnings.filter((warning) => warning !== estimatedCallWarning)).toEqual([]);
  });

  const interrupted = [
    { point: "intent:before", when: "before its plan was journaled" },
    { point: "intent:after", when: "between plan and effect" },
    { point: "effect:after", when: "between effect and outcome" },
  ];
  // After the effect, verification compares the same contents. packages/tools/src/files has this law for a patch, not for an edit.
  const changedMeanwhile = casesOf(interrupted, ({ when }) => {
    if (isWrite) return when !== "between effect and outcome";
    return what === "an edit" && when === "between plan and effect";
  });
  it.for(sessionsOf(changedMeanwhile))(
    "killed $when, does not touch a file that another process has changed since",
    async ({ kills }, test) => {
      const { expect } = test;
      const { killed, response } = await killAtEach(kills, callOn, test, (file) => writeFile(file, "another's\n"));
      expect(killed).toHaveLength(kills.length);
      for (const [i, { outcome, left }] of killed.entries()) {
        expect(left.text).toBe("another's\n");
        expect(outcome).toMatchObject({ error: { type: expect.any(String) }, changes: [] });
        if (kills[i]?.point === "intent:before") continue;
        const output = expect.stringContaining(`${i}.txt has neither its old nor its planned content`);
        expect(outcome).toMatchObject({ inDoubt: true, output });
      }
      if (kills.every(({ point }) => point === "intent:before")) return;
      expect(response.warnings).toEqual([expect.stringMatching(/was interrupted/)]);
    },
  );
});
