/**
 * Kills the daemon between a tool's plan and its effect, during the effect, and between effect and outcome. The
 * promises of each effect class (RELIABILITY T5) must hold for real files and commands.
 */
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Entry, ToolOutcome } from "@troupe/core";
import { estimatedCallWarning } from "@troupe/core/internal";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import {
  type DaemonOptions,
  startDaemonInProcess,
  startDoomedDaemon,
  submitToDoomedDaemon,
} from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { casesOf, isLong } from "../harness/long.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const timeout = 180_000;

interface Call {
  tool: string;
  args: Record<string, string | number>;
}

/** A daemon is killed at a point of one call. */
interface Kill {
  what: string;
  callOn(file: string): Call;
  /** A failpoint, with `+<ms>` for so much later. */
  point: string;
  when: string;
  /** Another process changes the file before the next daemon starts. */
  isChangedMeanwhile?: boolean;
  /** Whether the user is warned that the call may or may not have happened. */
  warns?: boolean;
  /** Only in the long run. */
  isLong?: boolean;
}

/** Effect key of the call that is interrupted by the i-th kill: the model has read the files before. */
const keyOf = (i: number) => `tool/${2 + i}/0`;

interface Killed {
  /** The file's name. */
  file: string;
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
async function killAtEach(kills: readonly Kill[], test: DaemonOptions["test"]) {
  const home = await tempFolder("effects", test);
  const workspace = await tempFolder("effects-work", test);
  const names = kills.map((_, i) => `${i}.txt`);
  const files = names.map((name) => path.join(workspace, name));
  for (const file of files) await writeFile(file, "old\n");
  const reads = names.map((name) => ({ tool: "read", args: { path: name } }));
  const turns = kills.map(({ callOn }, i) => ({ calls: [callOn(`${i}.txt`)] }));
  const scenario = await writeScenario(home, { main: [{ steps: [{ calls: reads }, ...turns, { text: "done" }] }] });
  const ledger = ledgerOf(home);

  let submitted = { session: "", run: "" };
  const pids: number[] = [];
  const found: Look[] = [];
  for (const [i, { point, isChangedMeanwhile }] of kills.entries()) {
    const [name, afterMs] = point.split("+");
    const failpoint = `${name}@${keyOf(i)}${afterMs === undefined ? "" : `+${afterMs}`}`;
    const options = { home, test, env: { ...ledger.env, TROUPE_TEST_FAILPOINT: failpoint } };
    if (i === 0) {
      const request = { task: "survive", scenario, workspace, origin: "api" } as const;
      const { pid, accepted } = await submitToDoomedDaemon(options, request);
      if (accepted) submitted = accepted;
      pids.push(pid);
    } else {
      pids.push(await startDoomedDaemon(options));
    }
    const file = files[i] ?? "";
    found.push(await look(file));
    if (isChangedMeanwhile) await writeFile(file, "another's\n");
  }

  const { session, run } = submitted;
  const last = await startDaemonInProcess({ home, test, env: ledger.env });
  const response = await responseOf(last, session);
  await last.stop();
  const journal = readJournalFile(path.join(home, "journal.db"));
  const entries = journal.get(run) ?? [];
  const calls = await ledger.calls();
  const killed = await Promise.all(
    files.map(async (file, i): Promise<Killed> => {
      const earlier = pids.slice(0, i + 1);
      const own = calls.filter((one) => one.key === `${run}/${keyOf(i)}`);
      const before = own.filter(({ pid }) => earlier.includes(pid)).length;
      return {
        file: names[i] ?? "",
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
  return { home, session, kills, journal, entries, killed, response };
}

type Played = Awaited<ReturnType<typeof killAtEach>>;

function outcomeOf(entries: readonly Entry[], key: string): ToolOutcome {
  const finished = entries.find(
    (entry) => entry.kind === "tool.finished" && `tool/${entry.step}/${entry.call}` === key,
  );
  if (finished?.kind !== "tool.finished") throw new Error("the call has no outcome");
  return finished.outcome;
}

const append = { what: "a command", callOn: (file: string) => shell(`echo once >> ${file}`) };
const read = { what: "a read", callOn: (path: string) => ({ tool: "read", args: { path, limit: 1 } }) };
const write = {
  what: "a write",
  callOn: (path: string) => ({ tool: "write", args: { path, content: "new\n" } }),
  text: "new\n",
};
/** These two would do something else if they were done twice. */
const edit = {
  what: "an edit",
  callOn: (path: string) => ({ tool: "edit", args: { path, old: "old", new: "old, once" } }),
  text: "old, once\n",
};
const patch = {
  what: "a patch",
  callOn: (file: string) => ({
    tool: "apply_patch",
    args: { patch: `--- a/${file}\n+++ b/${file}\n@@ -1 +1,2 @@\n old\n+once\n` },
  }),
  text: "old\nonce\n",
};

// Before its announcement, nothing of the call is in the journal, as during it. test/e2e/kill.test.ts kills after an append.
const certainKills = [
  { ...append, point: "effect:before", when: "before it was announced", begun: [0, 1], isLong: true },
  { ...append, point: "intent:before", when: "during its announcement", begun: [0, 1] },
  { ...append, point: "append:after", when: "after its outcome was journaled", begun: [1, 0], isLong: true },
];

const doubtfulKills = [
  { ...append, point: "intent:after", when: "between announcement and start", begun: 0, lines: [0], warns: true },
  { ...append, point: "intent:after+3", when: "around its start", begun: 1, lines: [0, 1], warns: true, isLong: true },
  { ...append, point: "effect:after", when: "between its end and its outcome", begun: 1, lines: [1], warns: true },
];

const readAfterEffect = { ...read, point: "effect:after", when: "between its end and its outcome" };
const readKills = [
  { ...read, point: "effect:before", when: "before it began", isLong: true },
  readAfterEffect,
  { ...read, point: "append:before", when: "before its outcome was journaled", isLong: true },
];

// All three tools share the journal's order and the writer of files. That each tool sees whether its effect is there,
// packages/tools/src/files tests; test/e2e/coding.test.ts kills an edit.
const editKills = [write, edit, patch].flatMap((each) =>
  [
    { point: "effect:before", when: "before it was planned", again: 1, isLong: true },
    { point: "intent:before", when: "before its plan was journaled", again: 1 },
    { point: "intent:after", when: "between plan and effect", again: 1 },
    { point: "effect:after", when: "between effect and outcome", again: 0 },
    { point: "append:after", when: "after its outcome was journaled", again: 0, isLong: true },
    { point: "intent:after+1", when: "in the middle", again: null, isLong: true },
    { point: "intent:after+4", when: "in the middle, a little later", again: null, isLong: true },
  ].map((kill) => ({ ...each, ...kill, isLong: kill.isLong === true || each !== write })),
);

// After the effect, verification compares the same contents. packages/tools/src/files has this law for a patch, not for an edit.
const changedKills = [write, edit, patch].flatMap((each) =>
  [
    { point: "intent:before", when: "before its plan was journaled", warns: false, isLong: each !== write },
    { point: "intent:after", when: "between plan and effect", warns: true, isLong: each !== edit },
    { point: "effect:after", when: "between effect and outcome", warns: true, isLong: true },
  ].map((kill) => ({ ...each, ...kill, isChangedMeanwhile: true })),
);

const typical = <One extends Kill>(kills: readonly One[]): readonly One[] =>
  casesOf(kills, ({ isLong: onlyLong }) => !onlyLong);

/** One session for all kills of the normal run, and one for each kill of the long run. */
const playsOfAll = useShared(async (test) => {
  const all = typical([...certainKills, ...doubtfulKills, ...readKills, ...editKills, ...changedKills]);
  const played = isLong ? null : await killAtEach(all, test);
  return { of: async (kill: Kill) => played ?? (await killAtEach([kill], test)) };
});

/** The outcome of one call. The session of the normal run has a test of its own. */
async function playOf(kill: Kill): Promise<Killed & { played: Played }> {
  const played = await playsOfAll().of(kill);
  const killed = played.killed[played.kills.indexOf(kill)];
  if (!killed) throw new Error("the call was not made");
  if (isLong) expectWhole(played);
  return { ...killed, played };
}

function expectWhole({ journal, entries, kills, response }: Played): void {
  expect(chainProblems(entries)).toEqual([]);
  expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
  expect(response.success).toBe(true);
  // The same warning of several calls is reported once.
  const tools = new Set(kills.flatMap(({ warns, callOn }) => (warns ? [callOn("").tool] : [])));
  const warnings = response.warnings.filter((warning) => warning !== estimatedCallWarning);
  expect(warnings.map((warning) => warning.replace(/ was interrupted.*/s, ""))).toEqual([...tools]);
}

describe("a daemon that is killed", { timeout }, () => {
  it.for(typical(certainKills))("in a command, $when: it runs once and is not in doubt", async (kill) => {
    const { begun, left, outcome } = await playOf(kill);
    expect(begun).toEqual(kill.begun);
    expect(left.text).toBe("old\nonce\n");
    expect(outcome).toMatchObject({ inDoubt: false, error: null });
  });

  it.for(typical(doubtfulKills))(
    "in a command, $when: it is in doubt, is reported as such, and never runs again",
    async (kill) => {
      const { lines } = kill;
      const { file, begun, left, outcome } = await playOf(kill);
      expect(begun[1]).toBe(0);
      if (!kill.point.includes("+")) expect(begun[0]).toBe(kill.begun);
      expect(outcome).toMatchObject({ inDoubt: true, output: expect.stringContaining("IN DOUBT") });
      expect(lines.map((count) => `old\n${"once\n".repeat(count)}`)).toContain(left.text);
      // The next daemon compares the folder with the scan that the killed one made before the command.
      const modified = { path: file, kind: "modified", diff: expect.stringContaining("+once") };
      const changed = left.text === "old\n" ? [] : [modified];
      expect(outcome.changes).toMatchObject(changed);
      expect(outcome.changes).toHaveLength(changed.length);
    },
  );

  it.for(typical(readKills))("in a read, $when: it is repeated", async (kill) => {
    const { outcome, begun } = await playOf(kill);
    expect(outcome).toMatchObject({ inDoubt: false, error: null, output: expect.stringContaining("old") });
    expect(begun[1]).toBe(1);
  });

  it.for(typical(editKills))("in $what, $when: it is complete and done once", async (kill) => {
    const { text, again } = kill;
    const { file, outcome, begun, found, left } = await playOf(kill);
    const wasDone = found.text === text;
    if (again !== null) expect(wasDone).toBe(again === 0);
    expect(["old\n", text]).toContain(found.text);
    expect(left.text).toBe(text);
    expect(begun[1]).toBe(wasDone ? 0 : 1);
    if (wasDone) expect(left).toEqual(found);
    expect(outcome).toMatchObject({ inDoubt: false, error: null, changes: [{ path: file, kind: "modified" }] });
    // When the write happened without an outcome, the old content is known only by its version.
    if (!wasDone) expect(outcome.changes[0]?.linesAdded).toBe(1);
  });

  it.for(typical(changedKills))(
    "in $what, $when: a file that another process has changed since stays as it is",
    async (kill) => {
      const { file, outcome, left } = await playOf(kill);
      expect(left.text).toBe("another's\n");
      expect(outcome).toMatchObject({ error: { type: expect.any(String) }, changes: [] });
      if (!kill.warns) return;
      const output = expect.stringContaining(`${file} has neither its old nor its planned content`);
      expect(outcome).toMatchObject({ inDoubt: true, output });
    },
  );

  it("leaves a session that replays, repeats no outcome, and warns of each call in doubt once", async () => {
    const { played } = await playOf(readAfterEffect);
    const { home, session } = played;
    expectWhole(played);
    await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    expect(await troupe(["sessions", "replay", session], { home })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^same/),
    });
  });
});
