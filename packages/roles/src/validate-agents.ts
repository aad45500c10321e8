import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AgentDefinition } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { type AgentFolder, createAgentReader, type FolderContents } from "./agent-folder.ts";
import { assembleRegistry } from "./agent-registry.ts";
import { shippedAgentsFolder, workspaceFolders } from "./agent-source.ts";
import type { ParsedAgent } from "./parse-agent.ts";

export interface Validation {
  /** Agents of the named files that can be used. */
  agents: AgentDefinition[];
  problems: AgentProblem[];
}

/**
 * Lints agent files, and folders of them. A workspace stands for its `.claude/agents` and `.troupe/agents`. Shipped
 * agents, and files beside a named one, may be delegated to; they are not linted themselves.
 *
 * @example
 * const { problems } = await validateAgents([".troupe/agents"]);
 * const broken = problems.some((problem) => problem.severity === "error");
 */
export async function validateAgents(paths: readonly string[]): Promise<Validation> {
  const reader = createAgentReader();
  const missing: AgentProblem[] = [];
  const named: FolderContents[] = [];
  const around = new Map<string, AgentFolder>();
  for (const path of new Set(paths.map((given) => resolve(given)))) {
    const stats = await stat(path).catch(() => null);
    if (stats?.isDirectory()) named.push(...(await Promise.all((await foldersOf(path)).map(reader.readFolder))));
    else {
      const agent = stats && (await reader.readFile(path, "project"));
      if (agent) named.push({ agents: [agent], problems: [] });
      else missing.push(notFound(path));
      around.set(dirname(path), { path: dirname(path), origin: "project" });
    }
  }
  const layer = oneLayer(named);
  const shipped = await reader.readFolder({ path: shippedAgentsFolder, origin: "builtin" });
  const beside = await Promise.all([...around.values()].map(reader.readFolder));
  const linted = new Set([...layer.agents.map(({ path }) => path), ...layer.problems.map(({ path }) => path)]);
  // A named file lies beside itself: taken twice, each of its problems would be told twice.
  const others = soundOf(beside).agents.filter(({ path }) => !linted.has(path));
  const registry = assembleRegistry([soundOf([shipped]), { agents: others, problems: [] }, layer]);
  return {
    agents: registry.agents.filter(({ source }) => linted.has(source.path)),
    problems: [...missing, ...registry.problems.filter(({ path }) => linted.has(path))],
  };
}

async function foldersOf(path: string): Promise<AgentFolder[]> {
  const folders = workspaceFolders(path);
  const existing = await Promise.all(folders.map((folder) => stat(folder.path).catch(() => null)));
  const own = folders.filter((_folder, i) => existing[i]?.isDirectory());
  return own.length > 0 ? own : [{ path, origin: "project", required: true }];
}

/** Named twice, by itself and by its folder, a file is still one file. */
function oneLayer(contents: readonly FolderContents[]): FolderContents {
  const byPath = new Map<string, ParsedAgent>();
  for (const { agents } of contents) for (const agent of agents) byPath.set(agent.path, agent);
  return { agents: [...byPath.values()], problems: contents.flatMap(({ problems }) => problems) };
}

function soundOf(contents: readonly FolderContents[]): FolderContents {
  return { agents: contents.flatMap(({ agents }) => agents.filter(({ definition }) => definition)), problems: [] };
}

function notFound(path: string): AgentProblem {
  return {
    path,
    line: 1,
    column: 1,
    severity: "error",
    code: "not-found",
    message: `${path} is neither an agent file nor a folder`,
    fix: "name a Markdown file, or a folder of them",
  };
}
