import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalRow, type ChangeRow, GrantLayer, type RunRow, type SessionRow, TroupeError } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { openSqlite } from "@troupe/recorder/internal";
import { homeFiles, prepareHome } from "troupe/internal";
import { afterEach, describe, expect, test } from "vitest";
import type { RecordArchive } from "../cli.ts";
import { createFakeCli, type FakeCli, removeTemporaryFolders, temporaryFolder } from "../testing/fake-cli.ts";
import { aChange, anApproval, aResponse, aRule, aRun, aSession } from "../testing/rows.ts";
import { trustFolder } from "../testing/trust.ts";

// sessions, agents and doctor on a home with and without an owner.

afterEach(removeTemporaryFolders);

const one = "0198a111-0000-7000-8000-000000000001";
const two = "0198a222-0000-7000-8000-000000000002";

function archiveOf(rows: SessionRow[], runs: RunRow[] = [], approvals: ApprovalRow[] = []) {
  const archive = {
    changeRows: [] as ChangeRow[],
    async changes({ session }: { session: string }, { after, limit }: { after: number; limit: number }) {
      return archive.changeRows.filter((row) => row.session === session && row.id > after).slice(0, limit);
    },
    closed: false,
    sessions: async ({ limit }: { limit: number }) => rows.slice(0, limit),
    async session(id: string) {
      const session = rows.find((row) => row.session === id);
      return session ? { position: 1, session, runs, approvals } : null;
    },
    response: async (id: string) => (id === one ? aResponse({ sessionId: one, details: "the\u001b[2J answer" }) : null),
    close: () => {
      archive.closed = true;
    },
  };
  return archive as unknown as RecordArchive & { closed: boolean; changeRows: ChangeRow[] };
}

function withRecord(rows: SessionRow[], runs: RunRow[] = [], approvals: ApprovalRow[] = []): FakeCli {
  const cli = createFakeCli();
  cli.composition.archive = archiveOf(rows, runs, approvals);
  return cli;
}

const settled = aSession({ session: one, task: "say \u001b]0;x\u0007hello\nthere" });
const open = aSession({ session: two, status: "running", completedAt: null });

describe("sessions, without an owner", () => {
  test("an empty home has none, which is not an error, and is not created", async () => {
    const cli = createFakeCli();
    expect(await cli.run("sessions", "ls")).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toContain("no sessions yet");
    expect(await cli.run("sessions", "ls", "--json")).toBe(0);
    expect(cli.out()).toBe("[]\n");
  });

  test("are listed with the shortest unique ids, and cleaned", async () => {
    const cli = withRecord([settled, open]);
    expect(await cli.run("sessions", "ls")).toBe(0);
    expect(cli.out().split("\n")).toEqual([
      "SESSION   STATUS       AGENT  TASK             RUNS    TOOK     AGE",
      "0198a111  ✓ completed  lead   say hello there     1   3.4 s  10.0 s",
      "0198a222  ● running    lead   say hello           1  10.0 s  10.0 s",
      "",
    ]);
    expect(cli.err()).toContain("troupe up");
  });

  test("--json prints the unchanged rows, and nothing on stderr", async () => {
    const cli = withRecord([settled, open]);
    await cli.run("sessions", "ls", "--json", "--limit", "1");
    expect(JSON.parse(cli.out())).toEqual([settled]);
    expect(cli.err()).toBe("");
  });

  test("one is shown by the beginning of its id, with its answer", async () => {
    const cli = withRecord([settled, open]);
    expect(await cli.run("sessions", "show", "0198A1")).toBe(0);
    expect(cli.out()).toContain(one);
    expect(cli.out()).toMatch(/\nthe answer\n$/);
    expect((cli.composition.archive as RecordArchive & { closed: boolean }).closed).toBe(true);
  });

  test("one with a call in doubt reports it", async () => {
    const cli = withRecord([settled]);
    const warnings = ["shell was interrupted: it may or may not\u001b[2J have happened"];
    const archive = cli.composition.archive as RecordArchive;
    archive.response = async () => aResponse({ sessionId: one, details: "the answer", warnings });
    await cli.run("sessions", "show", one);
    expect(cli.out()).toMatch(/\nthe answer\n\nwarning: shell was interrupted: it may or may not have happened\n$/);
  });

  test("--tree shows the delegations between agents", async () => {
    const root = aRun({ run: settled.rootRun, session: one });
    const child = aRun({ session: one, parentRun: root.run, order: 1, agent: "coder", task: "write it" });
    const cli = withRecord([settled], [root, child]);
    await cli.run("sessions", "show", one, "--tree");
    expect(cli.out()).toMatch(/\n✓ lead .*\n└─ ✓ coder {2}completed {2}write it/);
  });

  describe("file changes", () => {
    const changes = [
      aChange({ id: 1, session: one, agent: "coder" }),
      aChange({
        id: 2,
        session: one,
        agent: "tester",
        path: "test/\u001b[2Jsum.ts",
        kind: "created",
        linesRemoved: 0,
        diff: "@@ -0,0 +1 @@\n+\u001b[31mred\u001b[0m\r\n",
      }),
      aChange({
        id: 3,
        session: one,
        agent: "tester",
        linesAdded: 4,
        linesRemoved: 0,
        diff: "@@ -9 +9 @@\n+x\n",
        cut: true,
      }),
      aChange({
        id: 4,
        session: one,
        agent: "coder",
        path: "logo.png",
        kind: "deleted",
        linesAdded: 0,
        linesRemoved: 0,
        diff: "",
      }),
      aChange({ id: 5, session: two, path: "of-another" }),
    ];

    function withChanges(rows = changes): FakeCli {
      const cli = createFakeCli();
      const archive = archiveOf([settled, open]);
      archive.changeRows = rows;
      cli.composition.archive = archive;
      return cli;
    }

    test("are listed, each file once", async () => {
      const cli = withChanges();
      await cli.run("sessions", "show", one);
      expect(cli.out().split("the answer\n")[1]?.split("\n")).toEqual([
        "",
        "FILE         CHANGE    LINES  BY",
        "src/sum.ts   modified  +5 −1  coder, tester",
        "test/sum.ts  created   +1 −0  tester",
        "logo.png     deleted   +0 −0  coder",
        "",
      ]);
    });

    test("--diff shows each change, without control characters", async () => {
      const cli = withChanges();
      await cli.run("sessions", "show", one, "--diff");
      const [, ...blocks] = (cli.out().split("the answer\n")[1] ?? "").split("\n\n");
      expect(blocks.map((block) => block.trimEnd().split("\n"))).toEqual([
        [
          "src/sum.ts  modified +1 −1  coder, edit",
          "@@ -1,2 +1,2 @@",
          " export const sum = (a, b) =>",
          "-  a - b;",
          "+  a + b;",
        ],
        ["test/sum.ts  created +1 −0  tester, edit", "@@ -0,0 +1 @@", "+red"],
        ["src/sum.ts  modified +4 −0  tester, edit", "@@ -9 +9 @@", "+x", "… truncated"],
        ["logo.png  deleted +0 −0  coder, edit", "no text diff"],
      ]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: looks for them
      expect(cli.out()).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
    });

    test("are marked if another program runs the file later", async () => {
      const mark = { path: ".github/workflows/ci.yml", runsLater: "runs on a build server after a push" };
      const cli = withChanges([aChange({ id: 1, session: one, ...mark })]);
      await cli.run("sessions", "show", one, "--diff");
      expect(cli.out()).toContain(".github/workflows/ci.yml  modified, runs later  +1 −1  coder");
      expect(cli.out()).toContain("coder, edit\nruns later: it runs on a build server after a push\n@@");
    });

    test("--json prints all of them, over any number of pages", async () => {
      const many = Array.from({ length: 250 }, (_, i) => aChange({ id: i + 1, session: one }));
      const cli = withChanges(many);
      await cli.run("sessions", "show", one, "--json");
      expect(JSON.parse(cli.out()).changes).toEqual(many);
    });

    test("prints nothing without changes", async () => {
      const cli = withChanges([]);
      await cli.run("sessions", "show", one, "--diff");
      expect(cli.out()).toMatch(/\nthe answer\n$/);
    });
  });

  test("shows waiting approvals with their arguments", async () => {
    const root = aRun({ run: open.rootRun, session: two, status: "running", completedAt: null, costUsd: 0.0042 });
    const asking = { session: two, parentRun: root.run, order: 1, status: "running", completedAt: null } as const;
    const runs = [
      root,
      aRun({ ...asking, agent: "coder", exactStatus: "waiting" }),
      aRun({ ...asking, agent: "tester", order: 2, status: "pending", exactStatus: "queued", queuePosition: 3 }),
      aRun({ ...asking, agent: "writer", order: 3, exactStatus: "paused" }),
    ];
    const session = { ...open, approvalsWaiting: 1, costUsd: 0.5 };
    const cli = withRecord([session], runs, [anApproval({ session: two })]);
    await cli.run("sessions", "show", two, "--tree");
    expect(cli.out()).toMatch(/^status +\? waiting for approval$/m);
    expect(cli.out()).toMatch(/^cost +\$0\.50$/m);
    expect(cli.out()).toMatch(/^● lead .*\$0\.0042/m);
    expect(cli.out()).toMatch(/^├─ \? coder +waiting for approval /m);
    expect(cli.out()).toMatch(/^├─ ○ tester +queued 3 /m);
    expect(cli.out()).toMatch(/^└─ ‖ writer +paused /m);
    expect(cli.out()).toMatch(/lead › coder +shell +high +\? waiting.*\n.*\n {2}{"command":"rm -rf build"}/);
    const list = withRecord([session]);
    await list.run("sessions", "ls");
    expect(list.out()).toMatch(/0198a222 {2}\? waiting for approval/);
  });

  test("a paused one is marked as paused, and an unknown price is not shown as zero", async () => {
    const root = aRun({ run: open.rootRun, session: two, status: "running", exactStatus: "paused", completedAt: null });
    const cli = withRecord([open], [root]);
    await cli.run("sessions", "show", two);
    expect(cli.out()).toMatch(/^status +‖ paused$/m);
    expect(cli.out()).not.toMatch(/\$/);
    expect(cli.out()).toMatch(/^cost +unknown$/m);
  });

  test("--json prints rows and response", async () => {
    const cli = withRecord([settled]);
    await cli.run("sessions", "show", one, "--json");
    expect(JSON.parse(cli.out())).toMatchObject({ session: { session: one }, runs: [], response: { sessionId: one } });
  });

  test.each([
    ["nobody", 2, /there is no session "nobody"/],
    ["0198a", 2, /"0198a" matches 2 sessions/],
    ["", 2, /there is no session ""/],
  ])("%j is refused with %d", async (id, code, message) => {
    const cli = withRecord([settled, open]);
    expect(await cli.run("sessions", "show", id)).toBe(code);
    expect(cli.err()).toMatch(message);
  });
});

describe("agents", () => {
  const problem: AgentProblem = {
    path: "/w/.claude/agents/x.md",
    line: 3,
    column: 7,
    severity: "error",
    code: "invalid-yaml",
    message: "a value needs \u001b[1mquotes",
    fix: "put quotes around it",
  };

  test("ls shows the agents and the problems in their files", async () => {
    const cli = createFakeCli();
    cli.composition.problems = [problem];
    expect(await cli.run("agents", "ls")).toBe(0);
    expect(cli.out()).toMatch(/\nlead {3}builtin {2}inherit {2}researcher +Splits work up\n/);
    expect(cli.err()).toContain("/w/.claude/agents/x.md:3:7: error a value needs quotes [invalid-yaml]");
  });

  test("ls --json prints the same list as the API", async () => {
    const cli = createFakeCli();
    await cli.run("agents", "ls", "--json");
    expect(JSON.parse(cli.out())).toMatchObject({ agents: [{ id: "lead", origin: "builtin" }], problems: [] });
  });

  test.each([
    ["its own definition", true, {}],
    ["the policy", false, { denyAgents: ["lead"] }],
  ])("ls marks one that %s switches off", async (_who, disabled, layer) => {
    const cli = createFakeCli();
    cli.composition.disabled = disabled;
    cli.composition.policy = { layer: GrantLayer.parse({ from: "policy", kind: "policy", ...layer }), warnings: [] };
    await cli.run("agents", "ls");
    expect(cli.out()).toMatch(/\nlead {3}builtin, disabled {2}/);
    const json = createFakeCli({ composition: cli.composition });
    await json.run("agents", "ls", "--json");
    expect(JSON.parse(json.out()).agents).toMatchObject([{ id: "lead", disabled: true }]);
  });

  test("ls and show say what limits an agent", async () => {
    const cli = createFakeCli();
    cli.composition.limited = true;
    await cli.run("agents", "ls");
    expect(cli.out()).toMatch(/\nlead {3}builtin, plan, worktree {2}/);
    await cli.run("agents", "show", "lead");
    expect(cli.out()).toMatch(/\nmode +plan: it and all runs below it get only tools that read\n/);
    expect(cli.out()).toMatch(/\nworkspace +worktree\n/);
  });

  test.each([{}, { denyAgents: ["coder"] }, { agents: ["coder"] }])("ls does not mark one under %j", async (layer) => {
    const cli = createFakeCli();
    cli.composition.policy = { layer: GrantLayer.parse({ from: "policy", kind: "policy", ...layer }), warnings: [] };
    await cli.run("agents", "ls");
    expect(cli.out()).not.toContain("disabled");
  });

  test("show has the prompt", async () => {
    const cli = createFakeCli();
    expect(await cli.run("agents", "show", "lead")).toBe(0);
    expect(cli.out()).toMatch(/\n\nYou lead\.\n$/);
    expect(await cli.run("agents", "show", "nobody")).toBe(2);
    expect(cli.err()).toMatch(/no agent "nobody"; available: lead\nfix: {3}troupe agents ls/);
    expect(await cli.run("agents", "show", "led")).toBe(2);
    expect(cli.err()).toMatch(/fix: {3}did you mean lead\?/);
  });

  test.each([
    ["nothing", [], 0, true],
    ["warnings alone", [{ ...problem, severity: "warning" as const }], 0, true],
    ["an error", [problem], 3, false],
  ])("validate with %s exits accordingly", async (_what, problems, code, valid) => {
    const cli = createFakeCli();
    writeFileSync(join(cli.cwd, "x.md"), "");
    cli.composition.problems = problems;
    expect(await cli.run("agents", "validate", "x.md", "--json")).toBe(code);
    expect(JSON.parse(cli.out())).toMatchObject({ valid, problems });
    expect(await cli.run("agents", "validate", "x.md")).toBe(code);
  });

  test("validate names a path that does not exist", async () => {
    const cli = createFakeCli();
    expect(await cli.run("agents", "validate", "nowhere.md")).toBe(2);
    expect(cli.err()).toContain('"nowhere.md" cannot be read');
  });
});

describe("doctor", () => {
  const checksOf = (cli: FakeCli): Record<string, { status: string; detail: string; fix: string | null }> =>
    Object.fromEntries(JSON.parse(cli.out()).checks.map((check: { name: string }) => [check.name, check]));

  test("checks everything, names no secret, and creates nothing", async () => {
    const cli = createFakeCli({ env: { OPENAI_API_KEY: "sk-secret" } });
    expect(await cli.run("doctor", "--json")).toBe(0);
    const checks = checksOf(cli);
    expect(Object.keys(checks)).toEqual([
      "node",
      "home",
      "owner",
      "journal",
      "record",
      "port",
      "bus",
      "configuration",
      "provider",
      "policy",
      "sandbox",
      "trust",
      "agents",
      "office",
      "web search",
      "git",
      "rg",
    ]);
    expect(checks.provider).toMatchObject({
      status: "ok",
      detail: "openai/gpt-6-sol, by default (OPENAI_API_KEY is set)",
    });
    expect(checks.home).toMatchObject({ status: "ok", detail: expect.stringContaining("created at the first start") });
    expect(checks.rg).toMatchObject({ status: "ok", detail: expect.stringMatching(/^ripgrep \d.* \(.*rg\)$/) });
    expect(cli.out()).not.toContain("sk-secret");
  });

  test("reports the sandbox, and warns if commands run without one", async () => {
    const cli = createFakeCli();
    await cli.run("doctor", "--json");
    expect(checksOf(cli).sandbox).toMatchObject({ status: "ok", detail: "bubblewrap: commands see their workspace" });

    const bare = createFakeCli();
    const detail = "commands run unconfined";
    bare.composition.sandbox = { kind: "process-group", contains: false, detail, fix: "apt-get install bubblewrap" };
    expect(await bare.run("doctor", "--json")).toBe(0);
    expect(checksOf(bare).sandbox).toMatchObject({ status: "warn", fix: "apt-get install bubblewrap" });
  });

  test("shows a glyph, a word and the fix", async () => {
    const cli = createFakeCli();
    await cli.run("doctor");
    expect(cli.out()).toMatch(/^✓ ok +node /);
    expect(cli.out()).toMatch(/✓ ok +provider +demo \(scripted, offline\): answers from a script/);
    const halfway = createFakeCli({ env: { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } });
    await halfway.run("doctor");
    expect(halfway.out()).toMatch(
      /! warn +provider +the provider openai is set up[^!✓]*fix: export TROUPE_MODEL=openai\//,
    );
  });

  test("reports the problem of an invalid configuration, and its settings without effect", async () => {
    const broken = createFakeCli();
    mkdirSync(join(broken.cwd, ".troupe"));
    writeFileSync(join(broken.cwd, ".troupe", "config.yaml"), "modle: x");
    await trustFolder(broken.home.path, broken.cwd);
    expect(await broken.run("doctor", "--json")).toBe(1);
    expect(checksOf(broken).configuration).toMatchObject({
      status: "fail",
      detail: expect.stringContaining("line 1: modle: there is no such key"),
      fix: "line 1 of config.yaml: did you mean model?",
    });
    writeFileSync(join(broken.cwd, ".troupe", "config.yaml"), "providers: {openai: {baseUrl: https://x}}");
    const ignored = createFakeCli();
    const path = join(broken.cwd, ".troupe", "config.yaml");
    ignored.cwd = broken.cwd;
    await trustFolder(ignored.home.path, ignored.cwd);
    expect(await ignored.run("doctor", "--json")).toBe(0);
    expect(checksOf(ignored).configuration).toMatchObject({
      status: "warn",
      detail: expect.stringContaining("providers is ignored: only your own configuration can set it"),
      fix: `edit ${path}`,
    });
  });

  test("shows the policy, and the number of stored rules", async () => {
    const cli = createFakeCli();
    await cli.run("doctor", "--json");
    const none = { status: "ok", detail: expect.stringMatching(/policy\.yaml does not exist.*; 0 stored rules$/) };
    expect(checksOf(cli).policy).toMatchObject(none);

    await prepareHome(cli.home);
    writeFileSync(homeFiles(cli.home).policy, "");
    const there = createFakeCli({ home: cli.home.path });
    there.composition.rules = [aRule()];
    await there.run("doctor", "--json");
    const one = { status: "ok", detail: expect.stringMatching(/policy\.yaml is valid; 1 stored rule$/) };
    expect(checksOf(there).policy).toMatchObject(one);

    const layer = GrantLayer.parse({ from: "policy", kind: "policy" });
    const careful = createFakeCli();
    const files = { loss: "deny", savedFiles: { fileMb: 2, totalMb: 64 } } as const;
    careful.composition.policy = { layer, warnings: [], files };
    await careful.run("doctor", "--json");
    expect(checksOf(careful).policy?.detail).toContain(
      "; commands.loss: deny, savedFiles: 2 MB a file and 64 MB in all; 0 stored rules",
    );

    const doubtful = createFakeCli();
    doubtful.composition.policy = { layer, warnings: ['tools.deny names "shel"'] };
    expect(await doubtful.run("doctor", "--json")).toBe(0);
    expect(checksOf(doubtful).policy).toMatchObject({ status: "warn", detail: expect.stringContaining('"shel"') });

    const broken = createFakeCli();
    broken.composition.policy = new TroupeError("INVALID_POLICY", "not a policy: line 3", { fix: "correct line 3" });
    expect(await broken.run("doctor", "--json")).toBe(1);
    expect(checksOf(broken).policy).toEqual({
      name: "policy",
      status: "fail",
      detail: "not a policy: line 3",
      fix: "correct line 3",
    });
  });

  test("shows the search service, and the problem of a configured one", async () => {
    const rows = [
      [{}, "ok", "no search service is configured"],
      [{ BRAVE_API_KEY: "secret-1234" }, "ok", "brave, at api.search.brave.com"],
      [{ SEARXNG_URL: "http://me:secret-1234@127.0.0.1:8888" }, "ok", "searxng, at 127.0.0.1:8888"],
      [{ SEARXNG_URL: "secret-1234" }, "warn", "SEARXNG_URL is not a URL"],
      [
        { BRAVE_API_KEY: "secret-1234", TROUPE_SEARCH: "tavily" },
        "warn",
        "TROUPE_SEARCH is tavily, which is not configured",
      ],
    ] as const;
    for (const [env, status, detail] of rows) {
      const cli = createFakeCli({ env });
      await cli.run("doctor", "--json");
      expect(checksOf(cli)["web search"]).toMatchObject({ status, detail: expect.stringContaining(detail) });
      expect(cli.out()).not.toContain("secret-1234");
    }
  });

  test("tells a newer database from a damaged one, and exits with 1", async () => {
    const cli = createFakeCli();
    await prepareHome(cli.home);
    const newer = openSqlite(homeFiles(cli.home).journal);
    newer.pragma("user_version = 99");
    newer.close();
    writeFileSync(homeFiles(cli.home).record, "this is not a database, but it is long enough to read".repeat(20));
    expect(await cli.run("doctor", "--json")).toBe(1);
    const checks = checksOf(cli);
    expect(checks.journal).toMatchObject({ status: "fail", detail: expect.stringContaining("version 99") });
    expect(checks.record).toMatchObject({ status: "fail", fix: "troupe record rebuild" });
  });

  test("an intact database is ok, even during a write", async () => {
    const cli = createFakeCli();
    await prepareHome(cli.home);
    const writer = openSqlite(homeFiles(cli.home).journal);
    writer.pragma("journal_mode = WAL");
    writer.exec("CREATE TABLE t (a); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    await cli.run("doctor", "--json");
    writer.close();
    expect(checksOf(cli).journal).toMatchObject({ status: "ok" });
  });

  test("a home that is a file fails", async () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "");
    const cli = createFakeCli({ home: path });
    expect(await cli.run("doctor", "--json")).toBe(1);
    expect(checksOf(cli).home).toMatchObject({ status: "fail", fix: expect.stringContaining("TROUPE_HOME") });
  });
});
