import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentDefinition, TroupeError } from "@troupe/core";
import { patternConflict } from "@troupe/core/internal";
import { validateAgents, validateTeams } from "@troupe/roles";
import { z } from "zod";
import type { AgentInput } from "./options.ts";

/** Agents of a program: folders are read again for each session, files and objects once. */
export interface ProgramAgents {
  agentFolders: string[];
  agents: AgentDefinition[];
}

/** Reads the `agents` of a program. Throws `INVALID_AGENT`, naming the path or the id. */
export async function readAgents(given: readonly (string | AgentInput)[], cwd: string): Promise<ProgramAgents> {
  const agentFolders: string[] = [];
  const agents: AgentDefinition[] = [];
  for (const each of given) {
    if (typeof each !== "string") agents.push(definitionOf(each));
    else {
      const path = resolve(cwd, each);
      const stats = await stat(path).catch(() => null);
      if (stats?.isDirectory()) agentFolders.push(path);
      else if (stats) agents.push(...(await readAgentFile(path)));
      else throw missing(each, path);
    }
  }
  checkIds(agents);
  return { agentFolders, agents };
}

/** The folders of a program's teams as absolute paths. Throws `INVALID_TEAM` for a team that cannot be used. */
export async function readTeamFolders(given: readonly string[], cwd: string): Promise<string[]> {
  const folders = given.map((folder) => resolve(cwd, folder));
  if (folders.length === 0) return [];
  const { problems } = await validateTeams(folders);
  const error = problems.find(({ severity }) => severity === "error");
  if (!error) return folders;
  throw new TroupeError("INVALID_TEAM", `teams: ${error.path}:${error.line}: ${error.message}`, {
    fix: error.fix ?? "troupe teams validate",
  });
}

async function readAgentFile(path: string): Promise<AgentDefinition[]> {
  const { agents, problems } = await validateAgents([path]);
  const error = problems.find(({ severity }) => severity === "error");
  if (error) {
    throw new TroupeError("INVALID_AGENT", `${error.path}:${error.line}: ${error.message}`, {
      fix: error.fix ?? `troupe agents validate ${path}`,
    });
  }
  return agents;
}

/** Completes an agent that a program gives as an object. Throws `INVALID_AGENT`. */
export function definitionOf(input: AgentInput): AgentDefinition {
  const source = { origin: "user", path: "(given by the program)" };
  const parsed = AgentDefinition.safeParse({ name: input.id, ...input, source });
  const name = `the agent ${JSON.stringify(input.id)} cannot be used`;
  if (!parsed.success) {
    throw new TroupeError("INVALID_AGENT", `${name}: ${z.prettifyError(parsed.error)}`, {
      fix: "see AgentInput: an id, a description and a prompt are enough",
    });
  }
  const conflict = patternConflict(parsed.data);
  if (conflict) throw new TroupeError("INVALID_AGENT", `${name}: ${conflict.message}`, { fix: conflict.fix });
  return parsed.data;
}

function checkIds(agents: readonly AgentDefinition[]): void {
  const seen = new Set<string>();
  for (const { id } of agents) {
    if (seen.has(id)) {
      throw new TroupeError("INVALID_AGENT", `two agents have the id ${JSON.stringify(id)}`, {
        fix: "give one of them another id",
      });
    }
    seen.add(id);
  }
}

function missing(given: string, path: string): TroupeError {
  return new TroupeError("INVALID_AGENT", `agents: ${JSON.stringify(given)} does not exist (${path})`, {
    fix: "name an agent file, a folder of agent files, or give the agent as an object",
  });
}
