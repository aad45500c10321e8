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
import { type CliResult, troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { casesOf } from "../harness/long.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

interface Call {
  tool: string;
  args: Record<string, string | number>;
}

/** The call that is interrupted: the model has read the file before it. */
const key = "tool/2/0";

interface Killed {
  /** Journaled outcome of the interrupted call, after the session settled. */
  outcome: ToolOutcome;
  /** How often the tool was begun, before the kill and after it. */
  begun: [number, number];
  /** The response that reached the model. */
  response: { success: boolean; warnings: string[] };
  read(): Promise<string | null>;
  /** `troupe sessions replay` of the session. */
  replay(): Promise<CliResult>;
}

/** Plays a session whose second turn makes a call, kills the daemon at that call, and lets another one finish it. */
async function killAt(
  failpoint: string,
  call: Call,
  test: Pick<TestContext, "onTestFinished" | "expect">,
  meanwhile: (file: string) => Promise<unknown> = async () => {},
): Promise<Killed> {
  const home = await tempFolder("effects", test);
  const workspace = await tempFolder("effects-work", test);
  const file = path.join(workspace, "a.txt");
  await writeFile(file, "old\n");
  const scenario = await writeScenario(home, {
    main: [{ steps: [{ calls: [{ tool: "read", args: { path: "a.txt" } }] }, { calls: [call] }, { text: "done" }] }],
  });
  const ledger = ledgerOf(home);
  const env = { ...ledger.env, TROUPE_TEST_FAILPOINT: failpoint };
  const first = await startDaemon({ home, test, env });
  const { session, run } = await first.client.submit({ task: "survive", scenario, workspace, origin: "api" });
  test.expect((await first.ended).signal).toBe("SIGKILL");
  await meanwhile(file);

  const second = await startDaemonInProcess({ home, test, env: ledger.env });
  const response = await responseOf(second, session);
  await second.stop();
  const journal = readJournalFile(path.join(home, "journal.db"));
  const entries = journal.get(run) ?? [];
  test.expect(chainProblems(entries)).toEqual([]);
  test.expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
  await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));

  const calls = (await ledger.calls()).filter((one) => one.key === `${run}/${key}`);
  const begunIn = (pid: number) => calls.filter((one) => one.pid === pid).length;
  return {
    outcome: outcomeOf(entries.map(({ entry }) => entry)),
    begun: [begunIn(first.pid), begunIn(second.pid)],
    response,
    read: () => readFile(file, "utf8").catch(() => null),
    replay: () => troupe(["sessions", "replay", session], { home }),
  };
}

function outcomeOf(entries: readonly Entry[]): ToolOutcome {
  const finished = entries.find(
    (entry) => entry.kind === "tool.finished" && `tool/${entry.step}/${entry.call}` === key,
  );
  if (finished?.kind !== "tool.finished") throw new Error("the call has no outcome");
  return finished.outcome;
}

const at = (point: string) => `${point}@${key}`;
const timeout = 180_000;

describe.concurrent("a command, which cannot be reverted", { timeout }, () => {
  const call = shell("echo once >> a.txt");
  const announced = at("intent:after");

  const certain = [
    { point: at("effect:before"), when: "before it was announced", begun: [0, 1], text: "old\nonce\n" },
    { point: at("intent:before"), when: "during its announcement", begun: [0, 1], text: "old\nonce\n" },
    { point: at("append:after"), when: "after its outcome was journaled", begun: [1, 0], text: "old\nonce\n" },
  ];
  // Before its announcement, nothing of the call is in the journal, as during it.
  it.for(casesOf(certain, ({ when }) => when !== "before it was announced"))(
    "killed $when, runs once and is not in doubt",
    async ({ point, begun, text }, test) => {
      const killed = await killAt(point, call, test);
      test.expect(killed).toMatchObject({ begun, outcome: { inDoubt: false, error: null } });
      test.expect(await killed.read()).toBe(text);
    },
  );

  const doubtful = [
    { point: announced, when: "between announcement and start", begun: [0, 0], lines: [0] },
    { point: `${announced}+3`, when: "around its start", begun: [1, 0], lines: [0, 1] },
    { point: at("effect:after"), when: "between its end and its outcome", begun: [1, 0], lines: [1] },
  ];
  const namedMoments = casesOf(doubtful, ({ point }) => !point.includes("+"));
  it.for(namedMoments)(
    "killed $when, is in doubt, is reported as such, and never runs again",
    async ({ point, begun, lines }, test) => {
      const { expect } = test;
      const killed = await killAt(point, call, test);
      expect(killed.begun[1]).toBe(0);
      if (!point.includes("+")) expect(killed.begun).toEqual(begun);
      expect(killed.outcome).toMatchObject({ inDoubt: true, output: expect.stringContaining("IN DOUBT") });
      expect(killed.response).toMatchObject({
        success: true,
        warnings: [expect.stringMatching(/^shell was interrupted/)],
      });
      const text = await killed.read();
      expect(lines.map((count) => `old\n${"once\n".repeat(count)}`)).toContain(text);
      // The second daemon compares the folder with the scan that the killed one made before the command.
      const changed =
        text === "old\n" ? [] : [{ path: "a.txt", kind: "modified", diff: expect.stringContaining("+once") }];
      expect(killed.outcome.changes).toMatchObject(changed);
      expect(killed.outcome.changes).toHaveLength(changed.length);
    },
  );
});

describe.concurrent("a read", { timeout }, () => {
  it.for(casesOf(["effect:before", "effect:after", "append:before"], (point) => point === "effect:after"))(
    "killed at %s, is repeated",
    async (point, test) => {
      const killed = await killAt(at(point), { tool: "read", args: { path: "a.txt", limit: 1 } }, test);
      test
        .expect(killed.outcome)
        .toMatchObject({ inDoubt: false, error: null, output: test.expect.stringContaining("old") });
      test.expect(killed.begun[1]).toBe(1);
      test.expect(await killed.replay()).toMatchObject({ code: 0, stdout: test.expect.stringMatching(/^same/) });
    },
  );
});

/** The second and the third would do something else if they were done twice. */
const edits: { what: string; call: Call; text: string }[] = [
  { what: "a write", call: { tool: "write", args: { path: "a.txt", content: "new\n" } }, text: "new\n" },
  {
    what: "an edit",
    call: { tool: "edit", args: { path: "a.txt", old: "old", new: "old, once" } },
    text: "old, once\n",
  },
  {
    what: "a patch",
    call: { tool: "apply_patch", args: { patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n old\n+once\n" } },
    text: "old\nonce\n",
  },
];

/** A file that is written anew is another one. */
const look = async (file: string) => ({ text: await readFile(file, "utf8"), inode: (await stat(file)).ino });

describe.concurrent.each(edits)("$what, which can be verified", { timeout }, ({ what, call, text }) => {
  const isWrite = what === "a write";
  const moments = [
    { point: at("effect:before"), when: "before it was planned", again: 1 },
    { point: at("intent:before"), when: "before its plan was journaled", again: 1 },
    { point: at("intent:after"), when: "between plan and effect", again: 1 },
    { point: at("effect:after"), when: "between effect and outcome", again: 0 },
    { point: at("append:after"), when: "after its outcome was journaled", again: 0 },
    { point: `${at("intent:after")}+1`, when: "in the middle", again: null },
    { point: `${at("intent:after")}+4`, when: "in the middle, a little later", again: null },
  ];
  // All three tools share the journal's order and the writer of files. Each has its own way to look whether its effect is there.
  const tellsTools = ["between plan and effect", "between effect and outcome"];
  const tellsJournal = ["before its plan was journaled", "in the middle"];
  const typical = casesOf(moments, ({ when }) => tellsTools.includes(when) || (isWrite && tellsJournal.includes(when)));
  it.for(typical)("killed $when, is complete and done once", async ({ point, again }, test) => {
    const { expect } = test;
    let found = { text: "", inode: 0 };
    let file = "";
    const killed = await killAt(point, call, test, async (place) => {
      file = place;
      found = await look(place);
    });
    const wasDone = found.text === text;
    if (again !== null) expect(wasDone).toBe(again === 0);
    expect(["old\n", text]).toContain(found.text);
    expect(await killed.read()).toBe(text);
    expect(killed.begun[1]).toBe(wasDone ? 0 : 1);
    if (wasDone) expect(await look(file)).toEqual(found);
    expect(killed.outcome).toMatchObject({
      inDoubt: false,
      error: null,
      changes: [{ path: "a.txt", kind: "modified" }],
    });
    // When the write happened without an outcome, the old content is known only by its version.
    if (!wasDone) expect(killed.outcome.changes[0]?.linesAdded).toBe(1);
    expect(killed.response.warnings.filter((warning) => warning !== estimatedCallWarning)).toEqual([]);
  });

  const interrupted = [
    { point: at("intent:before"), when: "before its plan was journaled" },
    { point: at("intent:after"), when: "between plan and effect" },
    { point: at("effect:after"), when: "between effect and outcome" },
  ];
  // After the effect, verification compares the same contents. packages/tools/src/files has this law for a patch, not for an edit.
  const changedMeanwhile = casesOf(interrupted, ({ when }) => {
    if (isWrite) return when !== "between effect and outcome";
    return what === "an edit" && when === "between plan and effect";
  });
  it.for(changedMeanwhile)(
    "killed $when, does not touch a file that another process has changed since",
    async ({ point }, test) => {
      const { expect } = test;
      const killed = await killAt(point, call, test, (file) => writeFile(file, "another's\n"));
      expect(await killed.read()).toBe("another's\n");
      expect(killed.outcome).toMatchObject({ error: { type: expect.any(String) }, changes: [] });
      if (point !== at("intent:before")) {
        expect(killed.outcome).toMatchObject({
          inDoubt: true,
          output: expect.stringContaining("a.txt has neither its old nor its planned content"),
        });
        expect(killed.response.warnings).toEqual([expect.stringMatching(/was interrupted/)]);
      }
    },
  );
});
