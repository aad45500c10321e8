import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { type AgentRegistry, exitCodes, TroupeError } from "@troupe/core";
import { type AgentProblem, type AgentSummary, agentSummaryOf, type TeamSummary } from "@troupe/core/internal";
import { describeAgent } from "@troupe/core/texts";
import { findTeam } from "@troupe/runtime/internal";
import type { Cli } from "../cli.ts";
import { setUserTeam } from "../config/user-team.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import { countOf, problemLines } from "../render/problems.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe teams ls`: lists the teams of this folder, and problems in their files. */
export async function listTeams(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const registry = await loadTeams(cli);
  const { teams = [] } = registry;
  const problems = registry.problems.filter((problem) => isOfTeams(problem, teams));
  const usual = (await configHere(cli)).team?.value ?? null;
  if (flags.json) out.line(jsonLine({ teams, default: usual, problems }));
  else {
    if (teams.length > 0) for (const line of tableOf(teams, { out, usual })) out.line(line);
    else err.line("no teams yet; create one: troupe teams new my-team");
    for (const problem of problems) for (const line of problemLines(problem, err)) err.line(line);
  }
  return 0;
}

/** `troupe teams show`: shows a team with its agents. */
export async function showTeam(cli: Cli, name: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const registry = await loadTeams(cli);
  const team = findTeam(registry, cleanLine(name));
  const { layer } = await cli.composition.readPolicy(cli.home);
  const members = registry.agents
    .filter((agent) => agent.team === team.name)
    .map((agent) => agentSummaryOf(agent, layer));
  if (flags.json) out.line(jsonLine({ ...team, members }));
  else for (const line of detailsOf(team, members, out)) out.line(line);
  return 0;
}

/** `troupe teams use`: stores the default team in the user's configuration. Null removes it. */
export async function useTeam(cli: Cli, name: string | null, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  if (name !== null) findTeam(await loadTeams(cli), cleanLine(name));
  const path = await setUserTeam(cli, name);
  if (flags.json) out.line(jsonLine({ team: name, path }));
  else out.line(name === null ? `no default team any more (${path})` : `the default team is ${name} (${path})`);
  const { team } = await configHere(cli);
  if (team && team.value !== name) {
    err.line(
      `${err.colours.yellow("warning:")} here ${cleanLine(team.origin.where)} says team ${cleanLine(team.value)}`,
    );
  }
  return 0;
}

/** `troupe teams validate`: checks teams, by default those of this folder. Errors exit with 3, warnings with 0. */
export async function validateTeams(cli: Cli, paths: readonly string[], flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const absolute = paths.length > 0 ? paths.map((path) => existing(cli, path)) : [resolve(cli.cwd, ".troupe", "teams")];
  const tools = await cli.composition.toolSpecs({ home: cli.home, workspace: cli.cwd, env: cli.env });
  const isMissing = paths.length === 0 && !isFolder(absolute[0] ?? "");
  const { teams, problems } = await cli.composition.validateTeams(isMissing ? [] : absolute, { tools });
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (flags.json) out.line(jsonLine({ valid: errors === 0, teams, problems }));
  else {
    for (const problem of problems) for (const line of problemLines(problem, out)) out.line(line);
    const warnings = countOf(problems.length - errors, "warning");
    const count = `${countOf(teams.length, "usable team")}, ${countOf(errors, "error")}, ${warnings}`;
    err.line(errors === 0 ? err.colours.green(`✓ valid: ${count}`) : err.colours.red(`✗ not valid: ${count}`));
  }
  return errors === 0 ? 0 : exitCodes.INVALID_TEAM;
}

function loadTeams({ composition, home, cwd, env }: Cli): Promise<AgentRegistry> {
  return composition.loadAgents({ home, workspace: cwd, env });
}

function configHere({ composition, home, env, cwd }: Cli) {
  return composition.readConfig({ home, env, cwd, workspace: cwd });
}

function isOfTeams({ path }: AgentProblem, teams: readonly TeamSummary[]): boolean {
  const folder = dirname(path);
  return basename(dirname(folder)) === "teams" || teams.some((team) => dirname(team.path) === folder);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function existing(cli: Cli, given: string): string {
  const path = resolve(cli.cwd, given);
  if (statSync(path, { throwIfNoEntry: false })) return path;
  throw new TroupeError("USAGE", `${JSON.stringify(given)} does not exist`, {
    fix: "troupe teams validate .troupe/teams",
  });
}

function tableOf(teams: readonly TeamSummary[], { out, usual }: { out: Output; usual: string | null }): string[] {
  const { width, colours } = out;
  const head = ["TEAM", "FROM", "ENTRY", "AGENTS", "DESCRIPTION"].map((text): Cell => ({ text, paint: colours.dim }));
  const rows = teams.map(({ name, origin, entry, agents, description }): Cell[] => [
    { text: cleanLine(name), paint: colours.bold },
    { text: name === usual ? `${origin}, default` : origin },
    { text: describeAgent({ agent: entry, team: name }) },
    { text: String(agents.length) },
    { text: cleanLine(description) },
  ]);
  return layout([{}, {}, {}, { align: "right" }, { flexible: true }], [head, ...rows], width);
}

function detailsOf(team: TeamSummary, members: readonly AgentSummary[], { width, colours }: Output): string[] {
  const facts: [string, string][] = [
    ["team", team.name],
    ["description", cleanLine(team.description)],
    ["entry", describeAgent({ agent: team.entry, team: team.name })],
    ["from", `${cleanLine(team.path)} (${team.origin})`],
  ];
  const head = ["AGENT", "MODEL", "DELEGATES TO", "DESCRIPTION"].map((text): Cell => ({ text, paint: colours.dim }));
  const rows = members.map(({ id, model, subagents, description, disabled }): Cell[] => [
    { text: describeAgent({ agent: id, team: team.name }), paint: disabled ? colours.dim : colours.bold },
    { text: cleanLine(model) },
    { text: subagents.map((agent) => describeAgent({ agent, team: team.name })).join(", ") || "–" },
    { text: cleanLine(disabled ? `disabled: ${description}` : description) },
  ]);
  return [
    ...layout(
      [{}, {}],
      facts.map(([name, text]): Cell[] => [{ text: name, paint: colours.dim }, { text }]),
      width,
    ),
    "",
    ...layout([{}, {}, {}, { flexible: true }], [head, ...rows], width),
  ];
}
