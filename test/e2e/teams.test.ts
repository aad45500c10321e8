/** Teams, by the commands that people type: create, list, check, choose, and run them. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { readSessionFeed } from "@troupe/recorder";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

type Test = Pick<TestContext, "onTestFinished">;

const agent = (id: string, ...more: string[]): string =>
  `---\nname: ${id}\ndescription: The ${id}\n${more.map((line) => `${line}\n`).join("")}---\nYou are ${id}.\n`;

/** A team whose lead asks its writer. */
async function writeTeam(teams: string, name: string, description = `Writes ${name}`): Promise<string> {
  const folder = path.join(teams, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "team.yaml"), `description: ${description}\nentry: lead\n`);
  await writeFile(path.join(folder, "lead.md"), agent("lead", "subagents: {allow: [writer]}"));
  await writeFile(path.join(folder, "writer.md"), agent("writer"));
  return folder;
}

const agentsOf = (name: string, latencyMs = 0): Agents => ({
  [`${name}_lead`]: [
    { when: { continued: true }, steps: [{ text: `${name} again.` }] },
    {
      steps: [
        { calls: [{ tool: "delegate", args: { agent: `${name}_writer`, task: "write it" } }], latencyMs },
        { text: `${name} is written.`, latencyMs },
      ],
    },
  ],
  [`${name}_writer`]: [{ steps: [{ text: "A text.", latencyMs }] }],
  main: [{ steps: [{ text: "I am main." }] }],
});

/** A home, a project, and the team `news` of the project. */
async function createFixture(test: Test, names: readonly string[] = ["news"]) {
  const home = await tempFolder("teams", test);
  const work = path.join(home, "work");
  await mkdir(work);
  const teams = path.join(work, ".troupe", "teams");
  for (const name of names) await writeTeam(teams, name);
  const agents = Object.assign({}, ...(names.length > 0 ? names : ["news"]).map((name) => agentsOf(name)));
  const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, agents)}` };
  /** The demo would have a folder of its own, without the project's teams. */
  const run = (args: string[], more: Record<string, string> = {}) => {
    const here = args[0] === "run" && !args.includes("--continue") ? ["--workspace", work] : [];
    return troupe([...args, ...here], { home, cwd: work, env: { ...env, ...more } });
  };
  const ask = async (...args: string[]) =>
    RunResponse.parse(JSON.parse((await run(["run", "--json", ...args])).stdout));
  return { home, work, teams, env, run, ask };
}

describe.concurrent("troupe teams", { timeout: 120_000 }, () => {
  it("new writes a team that is valid and runs, and never overwrites it", async (test) => {
    const { expect } = test;
    const { run, teams } = await createFixture(test, []);
    expect((await run(["teams", "ls"])).stderr).not.toContain("news");
    const made = await run(["teams", "new", "news"]);
    expect(made).toMatchObject({ code: 0, stdout: `${path.join(teams, "news")}\n` });
    expect(made.stderr).toContain("troupe teams validate .troupe/teams/news");
    expect(await run(["teams", "validate"])).toEqual({
      ...{ code: 0, stdout: "" },
      stderr: "✓ valid: 1 usable team, 0 errors, 0 warnings\n",
    });
    const text = await readFile(path.join(teams, "news", "team.yaml"), "utf8");
    expect(text).toContain("# Run it:    troupe run --team news");
    expect(await run(["run", "--team", "news", "go"])).toMatchObject({ code: 0, stdout: "news is written.\n" });

    await writeFile(path.join(teams, "news", "lead.md"), agent("lead"));
    const again = await run(["teams", "new", "news"]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toMatch(/exists already and was not changed\n.*\nfix: +troupe teams show news/);
    expect(await readFile(path.join(teams, "news", "lead.md"), "utf8")).toBe(agent("lead"));
    for (const bad of ["News", "a/b", "..", "a_b", ""]) {
      expect(await run(["teams", "new", bad])).toMatchObject({ code: 2, stdout: "" });
    }
    expect(await readdir(teams)).toEqual(["news"]);
  });

  it("new --from copies a team under another name", async (test) => {
    const { expect } = test;
    const { run, teams } = await createFixture(test);
    await writeFile(path.join(teams, "news", "team.yaml"), "name: news\ndescription: Writes\nentry: lead # first\n");
    expect(await run(["teams", "new", "letters", "--from", "news", "--json"])).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: `${JSON.stringify({ team: "letters", path: path.join(teams, "letters") })}\n`,
    });
    const shown = await run(["teams", "show", "letters", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ...{ name: "letters", entry: "letters_lead", origin: "project" },
      members: [
        { id: "letters_lead", team: "letters", subagents: ["letters_writer"] },
        { id: "letters_writer", team: "letters" },
      ],
    });
    expect(await run(["teams", "new", "more", "--from", "newz"])).toMatchObject({ code: 2 });
    expect(await readdir(teams)).toEqual(["letters", "news"]);
  });

  it("ls and show name the agents as people write them; agents ls has the others", async (test) => {
    const { expect } = test;
    const { run } = await createFixture(test);
    const ls = await run(["teams", "ls"]);
    expect(ls).toMatchObject({ code: 0, stderr: "" });
    expect(ls.stdout).toMatch(/^TEAM +FROM +ENTRY +AGENTS +DESCRIPTION\n/);
    expect(ls.stdout).toMatch(/^news +project +news\/lead +2 +Writes news$/m);
    const json = JSON.parse((await run(["teams", "ls", "--json"])).stdout);
    expect(json).toMatchObject({
      default: null,
      problems: [],
      teams: expect.arrayContaining([expect.objectContaining({ name: "news", agents: ["news_lead", "news_writer"] })]),
    });
    const show = await run(["teams", "show", "news"]);
    expect(show.stdout).toMatch(/^entry +news\/lead$/m);
    expect(show.stdout).toMatch(/^news\/lead +inherit +news\/writer +The lead$/m);
    const wrong = await run(["teams", "show", "newz"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch(/there is no team "newz".*\nfix: +did you mean news/s);

    const agents = await run(["agents", "ls"]);
    expect(agents.stdout).not.toMatch(/news/);
    expect(agents.stderr).toMatch(/\d+ teams?: troupe teams ls\n$/);
    const one = await run(["agents", "show", "news/writer"]);
    expect(one.stdout).toMatch(/^agent +news\/writer\nteam +news\n/m);
    expect((await run(["agents", "show", "news/writr"])).stderr).toMatch(/did you mean news\/writer/);
  });

  it("use stores the default, and keeps every comment of the configuration", async (test) => {
    const { expect } = test;
    const { run, ask, home } = await createFixture(test);
    const config = path.join(home, "config.yaml");
    const before = "# mine\nroles: {coder: inherit} # why\n\n# team: coding\n# the end";
    await writeFile(config, before);
    const env = { TROUPE_CONFIG: config };
    expect(await run(["teams", "use", "newz"], env)).toMatchObject({ code: 2 });
    expect(await readFile(config, "utf8")).toBe(before);
    const used = await run(["teams", "use", "news"], env);
    expect(used).toEqual({ code: 0, stdout: `the default team is news (${config})\n`, stderr: "" });
    expect(await readFile(config, "utf8")).toBe(before.replace("# team: coding\n", "# team: coding\nteam: news\n"));
    expect((await run(["teams", "ls"], env)).stdout).toMatch(/^news +project, default /m);
    expect((await run(["config", "get", "team"], env)).stdout).toBe("news\n");

    const answer = await run(["run", "go"], env);
    expect(answer.stdout).toBe("news is written.\n");
    expect((await run(["run", "--agent", "main", "go"], env)).stdout).toBe("I am main.\n");
    expect(await run(["teams", "use", "--none"], env)).toMatchObject({ code: 0 });
    expect(await readFile(config, "utf8")).toBe(before);
    expect((await ask("go")).agent).toBe("main");
    expect(await run(["teams", "use"], env)).toMatchObject({ code: 2 });
    expect(await run(["teams", "use", "news", "--none"], env)).toMatchObject({ code: 2 });
  });

  it("validate and doctor name every mistake with its file and line", async (test) => {
    const { expect } = test;
    const { run, teams, work } = await createFixture(test, ["news", "bad"]);
    await writeFile(path.join(teams, "bad", "team.yaml"), "description: x\nentry: led\ncolour: red\n");
    await writeFile(path.join(teams, "bad", "writer.md"), "---\nname: writer\n---\nx");
    const all = await run(["teams", "validate"]);
    expect(all.code).toBe(3);
    expect(all.stdout).toContain(`${path.join(teams, "bad", "team.yaml")}:3:1: error`);
    expect(all.stdout).toContain(`${path.join(teams, "bad", "writer.md")}:`);
    expect(all.stderr).toBe("✗ not valid: 1 usable team, 2 errors, 0 warnings\n");
    expect(await run(["teams", "validate", ".troupe/teams/news"])).toMatchObject({ code: 0 });
    const json = JSON.parse((await run(["teams", "validate", "--json", work])).stdout);
    expect(json).toMatchObject({ valid: false, teams: [{ name: "news" }] });
    expect(await run(["teams", "validate", "nowhere"])).toMatchObject({ code: 2 });
    const agents = await run(["agents", "validate"]);
    expect(agents.code).toBe(3);
    expect(agents.stdout).toContain("team.yaml:3:1: error");
    const doctor = JSON.parse((await run(["doctor", "--json"])).stdout);
    expect(doctor.checks).toContainEqual(
      expect.objectContaining({
        ...{ name: "agents", status: "warn", fix: `troupe teams validate ${path.join(teams, "bad")}` },
        detail: expect.stringContaining("broken teams: bad"),
      }),
    );
  });
});

describe.concurrent("troupe run --team", { timeout: 180_000 }, () => {
  it("gives the task to the entry agent, or to the named one; the record has the team", async (test) => {
    const { expect } = test;
    const { run, ask } = await createFixture(test);
    const first = await ask("--team", "news", "go");
    expect(first).toMatchObject({ agent: "news_lead", details: "news is written." });
    expect(await ask("--team", "news", "--agent", "writer", "go")).toMatchObject({ agent: "news_writer" });
    expect(await ask("--agent", "news/writer", "go")).toMatchObject({ agent: "news_writer" });
    const shown = await run(["sessions", "show", first.sessionId, "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      session: { agent: "news_lead", team: "news" },
      runs: [
        { agent: "news_lead", team: "news" },
        { agent: "news_writer", team: "news" },
      ],
    });
    const head = (await run(["sessions", "show", first.sessionId])).stdout;
    expect(head).toMatch(/^agent +news\/lead\nteam +news$/m);
    expect((await run(["sessions", "show", first.sessionId, "--tree"])).stdout).toMatch(/news\/lead.*news\/writer/s);
    expect((await run(["sessions", "ls"])).stdout).toContain("news/lead");
    const progress = await run(["run", "--team", "news", "go"]);
    expect(progress.stderr).toMatch(/● news\/lead: go\n.*news\/lead → news\/writer: write it\n/);
    expect(progress.stderr).not.toContain("news_");
  });

  it("continues a session with a team, and with the team that it had", async (test) => {
    const { expect } = test;
    const { ask } = await createFixture(test);
    const first = await ask("go");
    expect(first.agent).toBe("main");
    const second = await ask("--continue", "--team", "news", "more");
    expect(second).toMatchObject({ sessionId: first.sessionId, agent: "news_lead", details: "news again." });
    expect(await ask("--continue", "and more")).toMatchObject({ sessionId: first.sessionId, agent: "news_lead" });
  });

  it("the flag wins over TROUPE_TEAM, that over the project's file, and that over the user's", async (test) => {
    const { expect } = test;
    const { run, work, home } = await createFixture(test, ["flag", "variable", "project", "user"]);
    await writeFile(path.join(work, ".troupe", "config.yaml"), "team: project\n");
    await writeFile(path.join(home, "user.yaml"), "team: user\n");
    const env = { TROUPE_CONFIG: path.join(home, "user.yaml") };
    const answer = async (args: string[], more = {}) => (await run(["run", ...args, "go"], { ...env, ...more })).stdout;
    expect(await answer([])).toBe("user is written.\n");
    expect(await run(["trust", "--yes"])).toMatchObject({ code: 0 });
    expect(await answer([])).toBe("project is written.\n");
    const variable = { TROUPE_TEAM: "variable" };
    expect(await answer([], variable)).toBe("variable is written.\n");
    expect(await answer(["--team", "flag"], variable)).toBe("flag is written.\n");
    expect(await answer(["--agent", "main"], variable)).toBe("I am main.\n");
  });

  it("a trusted project's team replaces the user's, which replaces that of the home folder", async (test) => {
    const { expect } = test;
    const { run, home, teams } = await createFixture(test, []);
    const described = async () => JSON.parse((await run(["teams", "show", "news", "--json"])).stdout).description;
    await writeTeam(path.join(home, "user", ".troupe", "teams"), "news", "first");
    expect(await described()).toBe("first");
    await writeTeam(path.join(home, "teams"), "news", "second");
    expect(await described()).toBe("second");
    await writeTeam(teams, "news", "third");
    expect(await described()).toBe("second");
    expect((await run(["trust", "--yes"])).code).toBe(0);
    expect(await described()).toBe("third");
    await writeFile(path.join(teams, "news", "team.yaml"), "colour: red\n");
    expect(await described()).toBe("second");
    expect((await run(["trust", "--yes"])).code).toBe(0);
    expect(await run(["teams", "show", "news"])).toMatchObject({ code: 3 });
  });

  it("a broken or unknown team starts nothing", async (test) => {
    const { expect } = test;
    const { run, teams } = await createFixture(test);
    await writeFile(path.join(teams, "news", "team.yaml"), "description: x\nentry: lead\ncolour: red\n");
    const broken = await run(["run", "--team", "news", "go"]);
    expect(broken).toMatchObject({ code: 3, stdout: "" });
    expect(broken.stderr).toContain(`${path.join(teams, "news", "team.yaml")}:3`);
    for (const name of ["codng", "Coding!"]) {
      for (const command of [
        ["run", "--team", name, "go"],
        ["plan", "go", "--team", name],
      ]) {
        const unknown = await run(command);
        expect(unknown, command.join(" ")).toMatchObject({ code: 2, stdout: "" });
        expect(unknown.stderr).toContain(`there is no team ${JSON.stringify(name)}; available: `);
        expect(unknown.stderr).toContain("did you mean coding?");
      }
    }
    expect((await run(["sessions", "ls", "--json"])).stdout).toBe("[]\n");
  });

  it("policy and session grants name agents as team/agent", async (test) => {
    const { expect } = test;
    const { run, home } = await createFixture(test);
    const denied = await run(["run", "--team", "news", "--deny-agents", "news/writer", "go"]);
    expect(denied.stderr).not.toMatch(/→ news\/writer/);
    await writeFile(path.join(home, "policy.yaml"), "agents: {disabled: [news/lead]}\n");
    const disabled = await run(["run", "--team", "news", "go"]);
    expect(disabled).toMatchObject({ code: 2, stdout: "" });
    expect(disabled.stderr).toContain("disabled by this machine's policy");
  });

  it("a killed daemon's team goes on after the next start, with the same outcome", async (test) => {
    const { expect } = test;
    const { home, work } = await createFixture(test);
    const scenario = await writeScenario(home, agentsOf("news", 400), "slow");
    const first = await startDaemon({ home, test });
    const { session } = await first.client.submit({ task: "go", team: "news", scenario, workspace: work });
    await until(async () => (await first.client.session(session).catch(() => null))?.runs[1]?.status === "running");
    await first.kill();
    const second = await startDaemonInProcess({ home, test });
    await until(async () => (await second.client.session(session)).session.status === "completed");
    expect(await second.client.response(session)).toMatchObject({ agent: "news_lead", details: "news is written." });
    expect((await second.client.session(session)).runs).toMatchObject([
      { agent: "news_lead", team: "news", status: "completed" },
      { agent: "news_writer", team: "news", status: "completed" },
    ]);
    await second.stop();
    const file = path.join(home, "journal.db");
    expect(repeatedKeys(outcomesIn(readJournalFile(file)))).toEqual([]);
    await expectReplayable(await readSessionFeed({ file, session }));
  });
});
