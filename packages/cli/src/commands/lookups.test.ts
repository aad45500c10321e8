import type { ConversationItem, CostReport, CostSum, RecordQueries, SearchHit } from "@troupe/core/internal";
import { afterEach, describe, expect, test } from "vitest";
import type { RecordArchive } from "../cli.ts";
import { emptyQueries } from "../session/empty-queries.ts";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { aRun, aSession } from "../testing/rows.ts";

/** `search`, `costs`, `stats` and `sessions show --log` over a record without an owner, and the ids that they accept. */

afterEach(removeTemporaryFolders);

const session = "0198a222-0000-7000-8000-000000000002";
const older = "0191bbbb-0000-7000-8000-000000000003";
const child = "5c5c5c5c-0000-8000-8000-000000000004";
const hostile = "\u001b[31mred\u001b]0;title\u0007\u202e\u009b2J";

function withQueries(queries: Partial<RecordQueries> = {}) {
  const cli = createFakeCli({ isTerminal: true, env: { NO_COLOR: "1" } });
  const row = aSession({ session });
  const details = new Map([session, older].map((id) => [id, { ...row, session: id }]));
  const runs = [aRun({ run: row.rootRun, session }), aRun({ run: child, session, parentRun: row.rootRun, order: 1 })];
  const archive: Partial<RecordArchive> = {
    queries: { ...emptyQueries, ...queries },
    sessions: async () => [row],
    session: async (id) => {
      const found = details.get(id);
      return found ? { position: 1, session: found, runs, approvals: [] } : null;
    },
    response: async () => null,
    changes: async () => [],
    run: async (run) => runs.find((each) => each.run === run) ?? null,
    close() {},
  };
  cli.composition.archive = archive as RecordArchive;
  return { cli, rootRun: row.rootRun };
}

function aSum(changes: Partial<CostSum> = {}): CostSum {
  return { runs: 2, tokens: 1_500, costUsd: 0.5, knownCostUsd: 0.5, unknownRuns: 0, estimatedTokens: 0, ...changes };
}

function aReport(rows: CostReport["rows"]): CostReport {
  return { since: null, by: "agent", rows, total: aSum(), leftOut: 3, isCut: false };
}

/** Characters of `hostile` that a terminal obeys. */
const unsafeIn = (text: string) => [...text].filter((character) => "\u001b\u0007\u202e\u009b".includes(character));
const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ {2,}/g, "  ").trim());

describe("costs", () => {
  const rows = [
    { name: "coder", own: aSum(), subtree: aSum({ costUsd: null, knownCostUsd: 0.75, unknownRuns: 1, runs: 3 }) },
    {
      name: "tester",
      own: aSum({ costUsd: null, knownCostUsd: 0, unknownRuns: 2 }),
      subtree: aSum({ estimatedTokens: 9 }),
    },
    { name: null, own: aSum({ runs: 0, costUsd: 0, knownCostUsd: 0, tokens: 0 }), subtree: aSum() },
  ];

  test("are a table; an unknown cost is not $0, and an estimate is marked", async () => {
    const { cli } = withQueries({ costs: async () => aReport(rows) });
    expect(await cli.run("costs")).toBe(0);
    expect(lines(cli.out())).toEqual([
      "AGENT  RUNS  TOKENS  COST  WITH RUNS BELOW",
      "coder  2  1,500  $0.50  > $0.75, 1 unknown",
      "tester  2  1,500  unknown  ≈ $0.50",
      "–  0  0  $0.00  $0.50",
      "all  2  1,500  $0.50",
    ]);
    expect(cli.err()).toContain("3 runs of demos and replays cost nothing");
  });

  test("--csv has an empty field for an unknown cost, and quotes names", async () => {
    const named = { name: 'a,"b', own: aSum({ costUsd: null, unknownRuns: 1 }), subtree: aSum() };
    const { cli } = withQueries({ costs: async () => aReport([named]) });
    expect(await cli.run("costs", "--csv", "--by", "model")).toBe(0);
    expect(cli.out().trimEnd().split("\n")).toEqual([
      "agent,runs,tokens,cost_usd,known_cost_usd,unknown_runs,estimated_tokens,subtree_runs,subtree_tokens,subtree_cost_usd,subtree_known_cost_usd,subtree_unknown_runs,subtree_estimated_tokens",
      '"a,""b",2,1500,,0.5,1,0,2,1500,0.5,0.5,0,0',
    ]);
  });

  test("pass the grouping and the time on", async () => {
    const asked: unknown[] = [];
    const costs: RecordQueries["costs"] = async (options) => {
      asked.push(options);
      return aReport([]);
    };
    const { cli } = withQueries({ costs });
    await cli.run("costs", "--by", "day", "--since", "7d", "--json");
    expect(asked).toEqual([{ by: "day", sinceMs: cli.now() - 7 * 86_400_000 }]);
    expect(JSON.parse(cli.out())).toMatchObject({ rows: [], leftOut: 3 });
  });

  test.each([
    [["costs", "--by", "colour"], /Allowed choices are agent, role, model, team, day/],
    [["costs", "--since", "soon"], /troupe costs --by day --since 7d/],
    [["costs", "--json", "--csv"], /cannot be used with/],
    [["stats", "--since", "0"], /troupe stats --since 7d/],
    [["search"], /missing required argument/],
    [["search", "a", "--limit", "0"], /from 1 to 200/],
    [["sessions", "show", session, "--log", "--tree"], /cannot be used with/],
  ])("%j is refused with 2", async (args, message) => {
    const { cli } = withQueries();
    expect(await cli.run(...args)).toBe(2);
    expect(cli.out() + cli.err()).toMatch(message);
  });
});

test.each([["costs"], ["stats"], ["search", "anything"]])(
  "%j of an empty home says so, and exits with 0",
  async (...args) => {
    const cli = createFakeCli();
    expect(await cli.run(...args)).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toMatch(/no run began in the last 30 d 00 h|nothing has all words of: anything/);
  },
);

describe("search", () => {
  const hit: SearchHit = {
    ...{ place: 4, kind: "tool_call", session, run: child, agent: "coder", team: null, status: "completed" },
    ...{ startedAt: "1970-01-01T00:00:00.000Z", call: { step: 2, call: 0, tool: `shell${hostile}` } },
    snippet: [
      { text: `before ${hostile} the `, isMatch: false },
      { text: `flaky${hostile}`, isMatch: true },
      { text: " test", isMatch: false },
    ],
  };

  test("prints each hit with its place, and no escape sequence of a text", async () => {
    const { cli } = withQueries({ search: async () => ({ hits: [hit], next: 4 }) });
    expect(await cli.run("search", "flaky", "test")).toBe(0);
    expect(unsafeIn(cli.out())).toEqual([]);
    const [head, snippet, place] = lines(cli.out());
    expect(head).toMatch(/^coder › shellred.*, step 2 {2}completed, .* ago$/);
    expect(snippet).toMatch(/^before red.*the flakyred.* test$/);
    expect(place).toBe(`session ${session}  run ${child}`);
    expect(cli.err()).toContain(`troupe sessions show ${session} --log --run ${child}; the newest 1 are shown`);
  });

  test("passes words, agent and time on", async () => {
    const asked: unknown[] = [];
    const find: RecordQueries["search"] = async (options) => {
      asked.push(options);
      return { hits: [], next: null };
    };
    const { cli } = withQueries({ search: find });
    await cli.run("search", "a b", "c*", "--agent", "news/lead", "--since", "1d", "--limit", "3");
    const sinceMs = cli.now() - 86_400_000;
    expect(asked).toEqual([{ words: "a b c*", sinceMs, agent: "news/lead", after: null, limit: 3 }]);
  });
});

test("stats has totals, rates, and the slowest and most expensive branches", async () => {
  const counts = { total: 5, active: 1, succeeded: 2, failed: 1, stopped: 1, successRate: 2 / 3 };
  const branch = {
    ...{ session, run: child, path: ["lead", `coder${hostile}`], task: "fix it", status: "completed" },
    ...{ durationMs: 4_000, cost: aSum() },
  };
  const { cli } = withQueries({
    totals: async () => ({
      ...{ since: null, sessions: counts, runs: counts, toolCalls: 12, cost: aSum({ costUsd: null, unknownRuns: 1 }) },
      ...{ agents: [{ agent: "coder", team: null, ...counts }], slowest: [branch], mostExpensive: [branch] },
      ...{ leftOut: 0, isCut: false },
    }),
  });
  expect(await cli.run("stats")).toBe(0);
  expect(lines(cli.out())).toEqual([
    "sessions  5, 1 active, 1 stopped, 2 of 3 (67%) succeeded",
    "runs  5, 1 active, 1 stopped, 2 of 3 (67%) succeeded",
    "tool calls  12",
    "tokens  1,500",
    "cost  > $0.50, 1 unknown",
    "",
    "AGENT  RUNS  SUCCEEDED",
    "coder  5  2 of 3 (67%)",
    "",
    "SLOWEST BRANCHES  TASK  RUNS  TOOK  COST  RUN",
    expect.stringMatching(/^lead › coderred.* fix it {2}2 {2}4\.0 s {2}\$0\.50 {2}5c5c5c5c$/),
    "",
    "MOST EXPENSIVE BRANCHES  TASK  RUNS  TOOK  COST  RUN",
    expect.stringContaining("$0.50"),
  ]);
  expect(unsafeIn(cli.out())).toEqual([]);
});

describe("sessions show --log", () => {
  const at = Date.UTC(2026, 0, 1);
  const text = (whole: string) => ({ text: whole, cut: null });
  const cut = { characters: 40_000, entry: 2, ref: null };
  const shell = { call: 0, name: "shell", args: { command: "npm test" }, argsCut: null, problem: null };
  const write = {
    call: 1,
    name: "write",
    args: { path: "a.md", content: `# A\n${hostile}` },
    argsCut: null,
    problem: null,
  };
  const items: ConversationItem[] = [
    {
      ...{ kind: "request", index: 0, at, from: null, agent: "lead", task: text(`Fix it ${hostile}`) },
      ...{ context: text("so far"), prompt: text("You lead."), earlierMessages: 2 },
    },
    {
      ...{ kind: "reply", index: 1, at, step: 1, text: text("I test first."), calls: [shell, write], callsLeftOut: 0 },
      ...{ model: "m", durationMs: 1_200, inputTokens: 100, outputTokens: 10, costUsd: null, retries: 1 },
    },
    {
      ...{ kind: "result", index: 2, at, step: 1, call: 0, tool: "shell", text: { text: "2 failed", cut } },
      ...{ error: `exit ${hostile}1`, isInDoubt: false, durationMs: 12, child: null, files: [] },
    },
    { kind: "note", index: 3, at, text: text(`delegated to\ncoder: run ${child}`) },
    { kind: "command", index: 4, at, by: `Ada${hostile}`, text: text("be brief") },
    { kind: "answer", index: 5, at, status: "completed", text: text("Done."), error: null, bailoutReason: null },
  ];

  /** Gives three parts a page, so that a conversation has two pages. */
  function withConversation() {
    const asked: [string, number][] = [];
    const made = withQueries({
      async conversation(run, { from }) {
        asked.push([run, from]);
        const head = { session, run, agent: "lead", team: null, status: "completed" };
        return { ...head, items: items.slice(from, from + 3), next: from + 3, more: from === 0 };
      },
    });
    return { ...made, asked };
  }

  test("prints the whole conversation with calls, arguments and results, and no escape sequence", async () => {
    const { cli, rootRun, asked } = withConversation();
    expect(await cli.run("sessions", "show", "0198a222", "--log")).toBe(0);
    expect(asked).toEqual([
      [rootRun, 0],
      [rootRun, 3],
    ]);
    expect(unsafeIn(cli.out())).toEqual([]);
    expect(lines(cli.out())).toEqual([
      `── lead  run ${rootRun}  completed`,
      "",
      "user → lead  2026-01-01 00:00:00",
      expect.stringMatching(/^Fix it red/),
      "passed context:",
      "so far",
      "2 messages of earlier turns",
      "system prompt: 9 characters",
      "",
      "step 1  m · 1.2 s · 110 tokens · cost unknown · after 1 failed request",
      "I test first.",
      "⚙ shell: npm test",
      "⚙ write",
      "path: a.md",
      "content:",
      "# A",
      expect.stringMatching(/^red/),
      "",
      expect.stringMatching(/^← shell {2}call 1 · 12 ms · failed: exit red.*1$/),
      "2 failed",
      "… the first part of 40,000 characters; the rest is in entry 2",
      "",
      "· delegated to",
      `· coder: run ${child}`,
      "",
      expect.stringMatching(/^Adared.* → {2}2026-01-01 00:00:00$/),
      "be brief",
      "",
      "completed",
      "Done.",
    ]);
  });

  test("--run selects a run of the session, and --json prints all parts", async () => {
    const { cli, asked } = withConversation();
    expect(await cli.run("sessions", "show", "last", "--log", "--run", "5c5c", "--json")).toBe(0);
    expect(asked.map(([run]) => run)).toEqual([child, child]);
    expect(JSON.parse(cli.out())).toMatchObject({ session, conversations: [{ run: child, items }] });
  });
});

describe("an id", () => {
  test("of a session can be last, or the beginning of any session of the record", async () => {
    const idsWith: RecordQueries["idsWith"] = async (prefix) =>
      older.startsWith(prefix) ? [{ kind: "session", id: older, session: older }] : [];
    for (const [given, found] of [
      ["LAST", session],
      ["0198a", session],
      ["0191bb", older],
    ] as const) {
      const { cli } = withQueries({ idsWith });
      expect(await cli.run("sessions", "show", given, "--json")).toBe(0);
      expect(JSON.parse(cli.out())).toMatchObject({ session: { session: found } });
    }
  });

  test("that matches several sessions is refused with all of them", async () => {
    const ids = [older, older.replace("3", "4")];
    const idsWith = async () => ids.map((id) => ({ kind: "session" as const, id, session: id }));
    const { cli } = withQueries({ idsWith });
    expect(await cli.run("sessions", "show", "0191")).toBe(2);
    expect(cli.err()).toContain(`"0191" matches 2 sessions: ${ids.join(", ")}`);
  });

  test("with a wrong end is refused, and names the id that begins in the same way", async () => {
    const idsWith: RecordQueries["idsWith"] = async (prefix) =>
      older.startsWith(prefix) ? [{ kind: "session", id: older, session: older }] : [];
    const { cli } = withQueries({ idsWith });
    expect(await cli.run("sessions", "show", "0191bc")).toBe(2);
    expect(cli.err()).toContain(`did you mean ${older}?`);
  });

  test("last of an empty home is refused, and says how to start", async () => {
    const cli = createFakeCli();
    expect(await cli.run("sessions", "show", "last")).toBe(2);
    expect(cli.err()).toContain("no session has started yet");
  });
});
