/** Shipped teams in real processes: over the command line, and through a daemon that is killed in the middle of their work. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { readSessionFeed } from "@troupe/recorder";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { ledgerOf, repeatedKeys } from "../harness/ledger.ts";
import { casesOf } from "../harness/long.ts";
import { inDoubt, journaledTree, outcomesIn, recordedTree } from "../harness/outcomes.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { delegate } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const write = (file: string, content: string) => ({ tool: "write", args: { path: file, content } });
const member = (name: string): string => `data-pipeline_${name}`;

const sources = ["sales", "stock", "staff"];
const formats = ["html", "csv", "json"];

/** One script for each task: the agent writes its file and names it. */
const writing = (names: readonly string[], verb: string, fileOf: (name: string) => string): Agents[string] =>
  names.map((name) => ({
    when: { task: `${verb} ${name}` },
    steps: [
      { latencyMs: 20, calls: [write(fileOf(name), `${name} of {{task}}\n`)] },
      { text: `wrote ${fileOf(name)}` },
    ],
  }));

/** Three fetches at once, one transformation, three reports at once. */
const pipeline: Agents = {
  [member("coordinator")]: [
    {
      steps: [
        {
          calls: [
            {
              tool: "delegate_batch",
              args: {
                tasks: [
                  ...sources.map((name) => ({ agent: member("fetcher"), task: `fetch ${name}`, name })),
                  { agent: member("transformer"), task: "join all", name: "table", after: sources },
                  ...formats.map((name) => ({
                    ...{ agent: member("reporter"), task: `report ${name}`, name, after: ["table"] },
                  })),
                ],
              },
            },
          ],
        },
        { text: "Three reports are in reports." },
      ],
    },
  ],
  [member("fetcher")]: writing(sources, "fetch", (name) => `data/${name}.csv`),
  [member("transformer")]: writing(["all"], "join", () => "data/result.csv"),
  [member("reporter")]: writing(formats, "report", (name) => `reports/report.${name}`),
};

/** Each file of a folder with its text. */
async function textsIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => [path.relative(folder, file), await readFile(file, "utf8")] as const);
  return Object.fromEntries((await Promise.all(texts)).toSorted());
}

const written = {
  "data/result.csv": "all of join all\n",
  "data/sales.csv": "sales of fetch sales\n",
  "data/staff.csv": "staff of fetch staff\n",
  "data/stock.csv": "stock of fetch stock\n",
  "reports/report.csv": "csv of report csv\n",
  "reports/report.html": "html of report html\n",
  "reports/report.json": "json of report json\n",
};

describe.concurrent("a shipped team", { timeout: 180_000 }, () => {
  const failpoints = [
    // The first of the fetches has ended, and none of the reports.
    "settle:after#1",
    // A file of a fetcher is written, and no entry says so.
    "effect:after#4",
    // The transformer or a reporter begins.
    "claim:after#5",
    "claim:before#7",
  ];
  // test/e2e/kill.test.ts kills at claims.
  it.for(casesOf(failpoints, (point) => !point.startsWith("claim")))(
    "whose daemon is killed at %s ends with the same files as without a kill",
    async (failpoint, test) => {
      const { expect } = test;
      const home = await tempFolder("teams", test);
      const workspace = await tempFolder("teams-work", test);
      const scenario = await writeScenario(home, pipeline);
      const ledger = ledgerOf(home);
      const first = await startDaemon({ home, test, env: { ...ledger.env, TROUPE_TEST_FAILPOINT: failpoint } });
      const asked = { task: "report", team: "data-pipeline", scenario, workspace, origin: "api" as const };
      const { session } = await first.client.submit(asked);
      expect((await first.ended).signal).toBe("SIGKILL");
      const done = new Set(outcomesIn(readJournalFile(path.join(home, "journal.db"))));

      const second = await startDaemonInProcess({ home, test, env: ledger.env });
      const response = await responseOf(second, session);
      expect(response.filesCreated.toSorted()).toEqual(Object.keys(written));
      expect(response).toMatchObject({
        status: "completed",
        agent: member("coordinator"),
        details: "Three reports are in reports.",
        metrics: { subtree: { runs: 8 } },
      });
      await second.stop();
      expect(await textsIn(workspace)).toEqual(written);

      const journal = readJournalFile(path.join(home, "journal.db"));
      expect(journal.size).toBe(8);
      for (const entries of journal.values()) expect(chainProblems(entries)).toEqual([]);
      expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
      expect(inDoubt(journal)).toEqual([]);
      const again = (await ledger.calls()).filter(({ pid }) => pid === second.pid).map(({ key }) => key);
      expect(again.filter((key) => done.has(key))).toEqual([]);
      expect(await recordedTree(home, session)).toEqual(journaledTree(journal));
      await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    },
  );

  it("works from the command line by the id of its entry agent", async (test) => {
    const { expect } = test;
    const home = await tempFolder("teams", test);
    const scenario = await writeScenario(home, {
      coding_main: [{ steps: [{ calls: [delegate("coding_coder", "add it")] }, { text: "{{result.0.summary}}" }] }],
      coding_coder: [{ steps: [{ calls: [write("made.txt", "made")] }, { text: "Added." }] }],
    });
    const workspace = await tempFolder("teams-work", test);
    const args = [
      "run",
      "--json",
      "--agent",
      "coding_main",
      "--scenario",
      scenario,
      "--workspace",
      workspace,
      "add it",
    ];
    const { code, stdout, stderr } = await troupe(args, { home });
    expect(code, stderr).toBe(0);
    expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({
      agent: "coding_main",
      details: "Added.",
      filesCreated: ["made.txt"],
    });
  });

  it("that was imported runs within its depth, and each role with its limits", async (test) => {
    const { expect } = test;
    const home = await tempFolder("teams", test);
    const cwd = await tempFolder("teams-work", test);
    const role = (RoleId: string, more: object) => ({ RoleId, SystemPromptFile: `prompts/${RoleId}.md`, ...more });
    const AgentRoles = {
      MaxDepth: 1,
      DefaultMaxIterations: 7,
      Roles: [
        role("main", { CanDelegate: true, AllowedDelegations: ["coder"], MaxDurationMs: 60_000 }),
        role("coder", { CanDelegate: true, AllowedDelegations: ["tester"], MaxIterations: 3 }),
        role("tester", { CanDelegate: false }),
      ],
    };
    await mkdir(path.join(cwd, "prompts"));
    for (const id of ["main", "coder", "tester"]) await writeFile(path.join(cwd, `prompts/${id}.md`), `I am ${id}.`);
    await writeFile(path.join(cwd, "appsettings.json"), JSON.stringify({ AgentRoles }));
    const run = (...args: string[]) => troupe(args, { home, cwd });
    expect(await run("teams", "import", "appsettings.json", "--name", "mine")).toMatchObject({ code: 0 });
    expect(await run("trust", "--yes")).toMatchObject({ code: 0 });

    const scenario = await writeScenario(home, {
      mine_main: [{ steps: [{ calls: [delegate("mine_coder", "add it")] }, { text: "{{result.0.summary}}" }] }],
      mine_coder: [
        { steps: [{ calls: [delegate("mine_tester", "test it")] }, { text: "No deeper: {{result.0.output}}" }] },
      ],
    });
    const args = ["--json", "--agent", "mine_main", "--scenario", scenario, "--workspace", ".", "add it"];
    const { code, stdout, stderr } = await run("run", ...args);
    expect(code, stderr).toBe(0);
    expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({ status: "completed", agent: "mine_main" });
    const opened = [...readJournalFile(path.join(home, "journal.db")).values()].flatMap(([first]) =>
      first?.entry.kind === "run.opened" ? [first.entry] : [],
    );
    const shown = opened.map(({ pin: { definition, limits, targets } }) => [
      definition.id,
      definition.prompt,
      limits.maxDepth,
      limits.maxIterations,
      limits.maxDurationMs,
      targets.map(({ id }) => id),
    ]);
    expect(shown).toEqual([
      ["mine_main", "I am main.", 1, 7, 60_000, ["mine_coder"]],
      ["mine_coder", "I am coder.", 1, 3, 300_000, []],
    ]);
  });
});
