import { sep } from "node:path";
import type { AgentDefinition, GrantLayer, ToolSpec } from "@troupe/core";
import { type AgentEditing, type AgentFileRow, abilitiesOf, agentSummaryOf } from "@troupe/core/internal";
import type { LoadedAgents } from "./agent-source.ts";
import type { ParsedAgent } from "./parse-agent.ts";

/** The folders whose files may be changed, and their limits. */
export interface EditableFolders {
  /** Folders of the user's agents. */
  user: readonly string[];
  /** Folders of the project's agents. Empty without a project. */
  project: readonly string[];
  /** Why the project's files may not be changed. Null: they may. */
  projectReason: string | null;
}

export interface RowFacts {
  policy: GrantLayer;
  specs: readonly ToolSpec[];
  folders: EditableFolders;
}

/** All agents of a folder, also those whose file has an error, sorted by id. */
export function agentRows(loaded: LoadedAgents, facts: RowFacts): AgentFileRow[] {
  const { registry, files } = loaded;
  const replaced = replacedOrigins(loaded);
  const usable = registry.agents.map((agent) => rowOf(agent, replaced.get(agent.source.path) ?? null, facts));
  const broken = new Map(
    files.filter(({ claimedId, isNote }) => !isNote && !registry.find(claimedId)).map((file) => [file.claimedId, file]),
  );
  const rows = [...usable, ...[...broken.values()].map((file) => brokenRowOf(file, facts))];
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function rowOf(agent: AgentDefinition, replaces: string | null, { policy, specs, folders }: RowFacts): AgentFileRow {
  const { permissionMode: _, workspace: __, ...summary } = agentSummaryOf(agent, policy, specs);
  return {
    ...summary,
    broken: false,
    abilities: abilitiesOf(agent, specs, policy),
    ...editingOf(agent, folders),
    replaces,
  };
}

/** An agent whose file has an error, or that a cycle of delegations has removed. */
function brokenRowOf({ claimedId: id, definition, path, origin }: ParsedAgent, { folders }: RowFacts): AgentFileRow {
  return {
    ...{ id, path, origin, name: definition?.name ?? id, description: definition?.description ?? "" },
    ...{ tools: definition?.tools ?? null, subagents: definition?.subagents.allow ?? [] },
    ...{ model: definition?.model ?? "", disabled: definition?.disabled ?? false, abilities: [] },
    ...{ broken: true, replaces: null },
    ...editingOf({ source: { path, origin } }, folders),
  };
}

/** The way of editing an agent, and the reason if it is not the agent's own file. */
export function editingOf(
  { source: { path, origin }, team }: Pick<AgentDefinition, "source" | "team">,
  { user, project, projectReason }: EditableFolders,
): { editing: AgentEditing; reason: string | null } {
  const none = (reason: string) => ({ editing: "none", reason }) as const;
  if (team !== undefined) return none(`it belongs to the team ${team}; its file is ${path}`);
  if (origin === "remote") return none("another host serves it");
  if (origin === "builtin") return { editing: "copy", reason: "troupe ships it; a copy of yours replaces it" };
  if (isBelow(path, user)) return { editing: "file", reason: null };
  if (!isBelow(path, project)) return none("the program that started troupe names it");
  return projectReason === null ? { editing: "file", reason: null } : none(projectReason);
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}${sep}`));
}

/** The origin of the earlier agent that each file replaces, by the path of the file. */
function replacedOrigins({ files }: LoadedAgents): ReadonlyMap<string, string> {
  const latest = new Map<string, ParsedAgent>();
  const replaced = new Map<string, string>();
  for (const file of files) {
    if (file.isNote) continue;
    const earlier = latest.get(file.claimedId);
    if (earlier && earlier.origin !== file.origin) replaced.set(file.path, earlier.origin);
    latest.set(file.claimedId, file);
  }
  return replaced;
}
