import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type AgentDefinition, type AgentRegistry, exitCodes, type ToolSpec, TroupeError } from "@troupe/core";
import {
  type AgentList,
  type AgentSummary,
  agentIdOf,
  agentNameOf,
  agentSummaryOf,
  lackOfTools,
  unknownAgent,
  workspaceModeOf,
} from "@troupe/core/internal";
import { allProblems, modelProblems } from "../agents/agent-problems.ts";
import type { Cli } from "../cli.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { type Cell, layout, truncate } from "../render/layout.ts";
import { countOf, problemLines } from "../render/problems.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe agents ls`: lists the agents of this folder that belong to no team. Reads the files, so it needs no daemon. */
export async function listAgents(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const registry = await loadAgents(cli);
  const { teams = [] } = registry;
  const { layer } = await cli.composition.readPolicy(cli.home);
  const specs = await toolSpecs(cli);
  const summaries = registry.agents.map((agent) => agentSummaryOf(agent, layer, specs));
  const problems = await allProblems(cli, registry, specs);
  if (flags.json) {
    const list: AgentList = { agents: summaries, problems: problems, teams: [...teams] };
    out.line(jsonLine(list));
    return 0;
  }
  const single = summaries.filter(({ team }) => team === undefined);
  for (const line of tableOf(single, out)) out.line(line);
  for (const problem of problems) for (const line of problemLines(problem, err)) err.line(line);
  if (teams.length > 0) err.line(err.colours.dim(`${countOf(teams.length, "team")}: troupe teams ls`));
  return 0;
}

/** `troupe agents show`: shows one definition with its prompt. */
export async function showAgent(cli: Cli, id: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const registry = await loadAgents(cli);
  const agent = registry.find(agentIdOf(id));
  if (!agent) throw unknownAgent(cleanLine(id), registry.agents.map(agentNameOf));
  if (flags.json) out.line(jsonLine(agent));
  else for (const line of detailsOf(agent, out)) out.line(line);
  return 0;
}

/** `troupe agents validate`: checks files and folders, by default this folder. Errors exit with 3, warnings with 0. */
export async function validateAgents(cli: Cli, paths: readonly string[], flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const absolute = paths.length > 0 ? paths.map((path) => existing(cli, path)) : [cli.cwd];
  const specs = await toolSpecs(cli);
  const { agents, problems: found } = await cli.composition.validateAgents(absolute, { tools: specs });
  const problems = [...found, ...(await modelProblems(cli, agents))];
  const errors = problems.filter((problem) => problem.severity === "error").length;
  if (flags.json) {
    out.line(
      jsonLine({
        valid: errors === 0,
        agents: agents.map((agent) => agentSummaryOf(agent, undefined, specs)),
        problems,
      }),
    );
  } else {
    for (const problem of problems) for (const line of problemLines(problem, out)) out.line(line);
    const warnings = countOf(problems.length - errors, "warning");
    const usable = agents.filter((agent) => lackOfTools(agent, specs) === null);
    const count = `${countOf(usable.length, "usable agent")}, ${countOf(errors, "error")}, ${warnings}`;
    err.line(errors === 0 ? err.colours.green(`✓ valid: ${count}`) : err.colours.red(`✗ not valid: ${count}`));
  }
  return errors === 0 ? 0 : exitCodes.INVALID_AGENT;
}

function toolSpecs({ composition, home, cwd, env }: Cli): Promise<readonly ToolSpec[]> {
  return composition.toolSpecs({ home, workspace: cwd, env });
}

function loadAgents(cli: Cli): Promise<AgentRegistry> {
  return cli.composition.loadAgents({ home: cli.home, workspace: cli.cwd, env: cli.env });
}

function existing(cli: Cli, given: string): string {
  const path = resolve(cli.cwd, given);
  try {
    statSync(path);
    return path;
  } catch (cause) {
    throw new TroupeError("USAGE", `${JSON.stringify(given)} cannot be read`, {
      cause,
      fix: "troupe agents validate .claude/agents",
    });
  }
}

/** Longest list of delegates: the description is more useful than a long list. */
const targetsWidthMax = 30;

function tableOf(agents: readonly AgentSummary[], { width, colours }: Output): string[] {
  const head: Cell[] = ["AGENT", "FROM", "MODEL", "DELEGATES TO", "DESCRIPTION"].map((text) => ({
    text,
    paint: colours.dim,
  }));
  const rows = agents.map((agent): Cell[] => [
    { text: cleanLine(agent.id), paint: agent.disabled || agent.unusable ? colours.dim : colours.bold },
    { text: [agent.origin, ...marksOf(agent)].join(", ") },
    { text: cleanLine(agent.model) },
    { text: truncate(agent.subagents.join(", ") || "–", targetsWidthMax) },
    { text: cleanLine(agent.description) },
  ]);
  return layout([{}, {}, {}, {}, { flexible: true }], [head, ...rows], width);
}

function marksOf({ disabled, unusable, permissionMode, workspace }: AgentSummary): string[] {
  const marks = [disabled ? "disabled" : null, unusable ? "unusable" : null, permissionMode ?? null, workspace ?? null];
  return marks.filter((mark) => mark !== null);
}

function detailsOf(agent: AgentDefinition, { width, colours }: Output): string[] {
  const limits = Object.entries(agent.limits).map(([name, cap]) => `${name} ${cap ?? "none"}`);
  const facts: [string, string][] = [
    ["agent", agentNameOf(agent)],
    ...(agent.team === undefined ? [] : [["team", agent.team] as [string, string]]),
    ["name", cleanLine(agent.name)],
    ["description", cleanLine(agent.description)],
    ["model", cleanLine(agent.model)],
    ["tools", agent.tools === null ? "as granted by its parent" : agent.tools.map(cleanLine).join(", ") || "none"],
    ...(agent.disallowedTools.length > 0 ? [["never", agent.disallowedTools.join(", ")] as [string, string]] : []),
    ...(agent.permissionMode === "plan"
      ? [["mode", "plan: it and all runs below it get only tools that read"] as [string, string]]
      : []),
    ["delegates to", agent.subagents.allow.map((id) => agentNameOf({ ...agent, id })).join(", ") || "no agent"],
    ...(agent.disabled ? [["disabled", "yes: no run can use it"] as [string, string]] : []),
    ["intent", agent.intent],
    ...(agent.patterns ?? []).map(({ pattern, risk, tools }): [string, string] => [
      "",
      `${risk}: ${cleanLine([pattern, ...(tools.length > 0 ? [`→ ${tools.join(", ")}`] : [])].join(" "))}`,
    ]),
    ["workspace", workspaceModeOf(agent)],
    ...(limits.length > 0 ? [["limits", limits.join(", ")] as [string, string]] : []),
    ["from", `${cleanLine(agent.source.path)} (${agent.source.origin})`],
  ];
  const rows = facts.map(([name, text]): Cell[] => [{ text: name, paint: colours.dim }, { text }]);
  return [...layout([{}, {}], rows, width), "", cleanText(agent.prompt).trimEnd()];
}
