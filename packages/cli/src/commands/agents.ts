import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type AgentDefinition, type AgentRegistry, exitCodes, type ToolSpec, TroupeError } from "@troupe/core";
import {
  type AgentList,
  type AgentProblem,
  type AgentSummary,
  agentSummaryOf,
  lackOfTools,
  unknownAgent,
  workspaceModeOf,
} from "@troupe/core/internal";
import { allProblems, modelProblems } from "../agents/agent-problems.ts";
import type { Cli } from "../cli.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import { type Cell, layout, truncate } from "../render/layout.ts";
import type { Output } from "../terminal/terminal.ts";

/** `troupe agents ls`: lists the agents of this folder. Reads the files, so it needs no daemon. */
export async function listAgents(cli: Cli, flags: { json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const registry = await loadAgents(cli);
  const { layer } = await cli.composition.readPolicy(cli.home);
  const specs = await toolSpecs(cli);
  const summaries = registry.agents.map((agent) => agentSummaryOf(agent, layer, specs));
  const problems = await allProblems(cli, registry, specs);
  if (flags.json) {
    const list: AgentList = { agents: summaries, problems };
    out.line(jsonLine(list));
    return 0;
  }
  for (const line of tableOf(summaries, out)) out.line(line);
  for (const problem of problems) for (const line of describe(problem, err)) err.line(line);
  return 0;
}

/** `troupe agents show`: shows one definition with its prompt. */
export async function showAgent(cli: Cli, id: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const registry = await loadAgents(cli);
  const agent = registry.find(id);
  if (!agent) {
    throw unknownAgent(
      cleanLine(id),
      registry.agents.map((each) => each.id),
    );
  }
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
    for (const problem of problems) for (const line of describe(problem, out)) out.line(line);
    const warnings = plural(problems.length - errors, "warning");
    const usable = agents.filter((agent) => lackOfTools(agent, specs) === null);
    const count = `${plural(usable.length, "usable agent")}, ${plural(errors, "error")}, ${warnings}`;
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
    ["agent", agent.id],
    ["name", cleanLine(agent.name)],
    ["description", cleanLine(agent.description)],
    ["model", cleanLine(agent.model)],
    ["tools", agent.tools === null ? "as granted by its parent" : agent.tools.map(cleanLine).join(", ") || "none"],
    ...(agent.disallowedTools.length > 0 ? [["never", agent.disallowedTools.join(", ")] as [string, string]] : []),
    ...(agent.permissionMode === "plan"
      ? [["mode", "plan: it and all runs below it get only tools that read"] as [string, string]]
      : []),
    ["delegates to", agent.subagents.allow.join(", ") || "no agent"],
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

/** `path:line:column:`, which editors and CI turn into links. */
function describe(problem: AgentProblem, { colours }: Output): string[] {
  const paint = problem.severity === "error" ? colours.red : colours.yellow;
  const position = `${cleanLine(problem.path)}:${problem.line}:${problem.column}:`;
  const line = `${position} ${paint(problem.severity)} ${cleanLine(problem.message)} ${colours.dim(`[${problem.code}]`)}`;
  return problem.fix ? [line, `  ${colours.green("fix:")} ${cleanLine(problem.fix)}`] : [line];
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
