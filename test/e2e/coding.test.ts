/**
 * An agent with the coding tools fixes a failing test, end to end: a real daemon, the shipped roles and tools, commands in
 * the sandbox that the machine has; the model alone follows a script. The record shows each edit as a difference.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { RunResponse } from "@troupe/core";
import { readSessionFeed } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";
import { createSandbox } from "@troupe/tools";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess, type TestDaemon } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { writePolicy } from "../harness/home-files.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { casesOf } from "../harness/long.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import {
  contentsOf,
  git,
  rightLine,
  testsByHand,
  writeSampleRepository,
  wrongLine,
} from "../harness/sample-repository.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

type Test = Pick<TestContext, "onTestFinished" | "expect">;

const timeout = 120_000;
const runTests = { tool: "test", args: {} };
/** Kept to folders of tests by the sandbox alone: where there is none, a person who allows it has allowed all of it. */
const reachOut = {
  tool: "shell",
  args: { command: "echo mine > src/format.js; echo mine > note.txt; echo ok > test/made.txt" },
};
const edit = { tool: "edit", args: { path: "src/cart.js", old: wrongLine, new: rightLine } };

/** As a model would go about it: see it fail, find the place, mend it, see it pass, look at the difference, commit. */
const mending: Agents[string][number]["steps"] = [
  { text: "First I see it fail.", calls: [runTests] },
  {
    calls: [
      { tool: "search", args: { pattern: "function total" } },
      { tool: "read", args: { path: "src/cart.js" } },
    ],
  },
  { text: "It subtracts.", calls: [edit] },
  { calls: [runTests] },
  { calls: [{ tool: "git_diff", args: {} }] },
  { calls: [{ tool: "git_commit", args: { message: "fix: a cart costs the sum of its items", all: true } }] },
  { text: "The test passes: total() added where it subtracted." },
];

interface CodingHome {
  home: string;
  /** The repository. A protected file lies beside it. */
  workspace: string;
  around: string;
}

async function createHome(test: Test): Promise<CodingHome> {
  const home = await tempFolder("coding", test);
  const around = await tempFolder("coding-work", test);
  const workspace = path.join(around, "cart");
  await mkdir(workspace);
  await writeFile(path.join(around, "precious.txt"), "not ours\n");
  await writeSampleRepository(workspace);
  // Where no sandbox contains commands, they are of high risk: the owner of this machine has allowed that.
  await writePolicy(home, "risk: {high: allow}\n");
  return { home, workspace, around };
}

/** Asks for the mending of the failing test. */
async function play(
  { client }: Pick<TestDaemon, "client">,
  { home, workspace }: CodingHome,
  agents: Agents,
  more: { agent?: string } = {},
) {
  const scenario = await writeScenario(home, agents);
  return await client.submit({ task: "fix the failing test", scenario, workspace, origin: "api", ...more });
}

/** Waits for the end of a session. Where nothing keeps the commands of an agent to its folders, a person allows each. */
function settled({ client }: Pick<TestDaemon, "client">, session: string): Promise<RunResponse> {
  return until(async () => {
    const { approvals } = await client.approvals();
    for (const { id } of approvals) await client.answer(id, { approved: true, by: "Ada" });
    return client.response(session).catch(() => null);
  });
}

const { contains } = await createSandbox();

describe.concurrent("an agent with the coding tools", { timeout }, () => {
  it("fixes a failing test; the record shows how", async (test) => {
    const { expect } = test;
    const place = await createHome(test);
    const { home, workspace, around } = place;
    const before = await contentsOf(around, (name) => name.startsWith("cart/.git/"));
    expect(await testsByHand(workspace)).toEqual({ passed: 1, failed: 1 });

    const daemon = await startDaemonInProcess({ home, test });
    const { session, run } = await play(daemon, place, { coder: [{ steps: mending }] }, { agent: "coder" });
    const response = await settled(daemon, session);
    expect(response).toMatchObject({
      status: "completed",
      testsRun: 2,
      testsPassed: 2,
      filesModified: ["src/cart.js"],
      filesCreated: [],
      warnings: [],
    });
    const used = ["edit", "git_commit", "git_diff", "read", "search", "test"];
    expect(response.toolsUsed.toSorted()).toEqual(used);
    expect((await daemon.client.session(session)).approvals).toEqual([]);

    // Checks the repository itself.
    expect(await testsByHand(workspace)).toEqual({ passed: 2, failed: 0 });
    expect(await git(workspace, "log", "--format=%s")).toBe("fix: a cart costs the sum of its items\nas it was\n");
    expect(await git(workspace, "status", "--porcelain")).toBe("");
    const after = await contentsOf(around, (name) => name.startsWith("cart/.git/"));
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(["cart/src/cart.js"]);
    expect(Object.keys(after)).toEqual(Object.keys(before));

    // Checks the record through each interface.
    const diff = expect.stringContaining(`\n-${wrongLine}\n+${rightLine}\n`);
    const change = {
      run,
      agent: "coder",
      tool: "edit",
      path: "src/cart.js",
      kind: "modified",
      linesAdded: 1,
      linesRemoved: 1,
      diff,
    };
    const { changes } = await daemon.client.changes({ session });
    expect(changes).toMatchObject([change]);
    expect((await daemon.client.changes({ run })).changes).toEqual(changes);
    expect(rowsOf(home, "SELECT path, kind, tool, lines_added, diff FROM changes")).toMatchObject([
      { path: "src/cart.js", kind: "modified", tool: "edit", lines_added: 1, diff },
    ]);
    expect(rowsOf(home, "SELECT files_modified_json FROM messages WHERE request_type = 'prompt'")).toEqual([
      { files_modified_json: '["src/cart.js"]' },
    ]);
    const shown = await troupe(["sessions", "show", session, "--diff"], { home });
    expect(shown.stdout).toContain(`\n-${wrongLine}\n+${rightLine}\n`);
    expect(shown.stdout).toMatch(/^src\/cart\.js +modified +\+1 −1 +coder$/m);
    const asJson = await troupe(["sessions", "show", session, "--json"], { home });
    expect(JSON.parse(asJson.stdout).changes).toEqual(changes);

    await daemon.stop();
    await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
  });

  it("delegates its tests to a tester, which writes in folders of tests and nowhere else", async (test) => {
    const { expect } = test;
    const place = await createHome(test);
    const { workspace, home } = place;
    const added =
      'import { test } from "node:test";\nimport { euros } from "../src/format.js";\ntest("euros", () => euros(1));\n';
    const daemon = await startDaemonInProcess({ home, test });
    const { session } = await play(daemon, place, {
      main: [{ steps: [{ calls: [delegate("coder", "fix the failing test")] }, { text: "{{result.0.summary}}" }] }],
      coder: [
        {
          steps: [
            ...mending.slice(0, 4),
            { calls: [delegate("tester", "test format.js")] },
            { text: "Mended and tested." },
          ],
        },
      ],
      tester: [
        {
          steps: [
            {
              calls: [
                { tool: "write", args: { path: "test/format.test.js", content: added } },
                { tool: "write", args: { path: "src/format.js", content: "// mine now\n" } },
                ...(contains ? [reachOut] : []),
              ],
            },
            { calls: [runTests] },
            { text: "Three tests, all pass." },
          ],
        },
      ],
    });
    const response = await settled(daemon, session);
    expect(response).toMatchObject({ status: "completed", testsRun: 3, testsPassed: 3, details: "Mended and tested." });
    expect(response.filesCreated).toContain("test/format.test.js");
    expect(response.filesModified).toEqual(contains ? ["src/cart.js"] : ["src/cart.js", "src/format.js"]);
    const { changes } = await daemon.client.changes({ session });
    const ofTools = changes.filter(({ tool }) => tool !== "shell");
    expect(ofTools.map(({ agent, path: file, kind }) => [agent, file, kind])).toEqual([
      ["coder", "src/cart.js", "modified"],
      ["tester", "test/format.test.js", "created"],
    ]);
    // The command tried to write three files, and the record shows the files that it could write.
    const ofCommand = changes.filter(({ tool }) => tool === "shell").map(({ path: file, kind }) => [file, kind]);
    const outside = contains
      ? []
      : [
          ["note.txt", "created"],
          ["src/format.js", "modified"],
        ];
    expect(ofCommand).toEqual([...outside, ["test/made.txt", "created"]]);
    const format = await readFile(path.join(workspace, "src/format.js"), "utf8");
    expect(format).not.toContain("// mine now");
    const asked = (await daemon.client.session(session)).approvals;
    if (contains) {
      // No person had to look at any of it, and the shell was kept to the same folders.
      expect(asked).toEqual([]);
      expect(format).toContain("export function euros");
      expect(await readFile(path.join(workspace, "test/made.txt"), "utf8")).toBe("ok\n");
      expect(await readFile(path.join(workspace, "note.txt"), "utf8").catch(() => null)).toBeNull();
    } else {
      expect(asked.length).toBeGreaterThan(0);
      expect(new Set(asked.map(({ agent }) => agent))).toEqual(new Set(["tester"]));
    }
    const refused = journaled(home).filter(
      (entry) => entry.kind === "tool.finished" && entry.tool === "write" && entry.outcome.error,
    );
    expect(refused).toMatchObject([
      { outcome: { error: { type: "permission", message: expect.stringMatching(/src\/format\.js/) } } },
    ]);
  });

  // test/e2e/effects.test.ts kills at each moment of an edit.
  const moments = ["intent:after@tool/3/0", "intent:after@tool/3/0+2", "effect:after@tool/3/0"];
  it.for(casesOf(moments, (moment) => moment.startsWith("effect")))(
    "killed in the middle of its edit (%s), continues with it and does it once",
    async (failpoint, test) => {
      const { expect } = test;
      const place = await createHome(test);
      const { workspace, home } = place;
      const env = { TROUPE_TEST_FAILPOINT: failpoint };
      const daemon = await startDaemon({ home, test, env });
      const { session } = await play(daemon, place, { coder: [{ steps: mending }] }, { agent: "coder" });
      expect((await daemon.ended).signal).toBe("SIGKILL");
      const second = await startDaemonInProcess({ home, test });
      const response = await settled(second, session);
      const done = { status: "completed", testsRun: 2, testsPassed: 2, filesModified: ["src/cart.js"], warnings: [] };
      expect(response).toMatchObject(done);
      const { changes } = await second.client.changes({ session });
      expect(changes).toMatchObject([{ path: "src/cart.js", kind: "modified", tool: "edit" }]);
      await second.stop();
      expect(await testsByHand(workspace)).toEqual({ passed: 2, failed: 0 });
      expect(await git(workspace, "status", "--porcelain")).toBe("");
      const journal = readJournalFile(path.join(home, "journal.db"));
      for (const entries of journal.values()) expect(chainProblems(entries)).toEqual([]);
      expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
      await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    },
  );
});

function rowsOf(home: string, sql: string): unknown[] {
  const database = openSqlite(path.join(home, "troupe.db"), { readOnly: true });
  const rows = database.prepare(sql).all();
  database.close();
  return rows;
}

function journaled(home: string) {
  return [...readJournalFile(path.join(home, "journal.db")).values()].flat().map(({ entry }) => entry);
}
