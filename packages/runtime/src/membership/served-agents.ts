import type { AgentDefinition, AgentRegistry, AgentSource } from "@troupe/core";
import type { ServedAgent } from "@troupe/core/internal";
import { definitionHashOf } from "../host/claim/run-spec.ts";

/** Agents of so many folders are served at once, beside those that depend on no folder. */
const seenMax = 500;

export interface ServedAgentsOptions {
  /** All that are loaded here: agents that only others serve are passed over. */
  agentSource: AgentSource;
  /** What this host is to serve. */
  only: "all" | readonly string[];
  /** Whom the machine's owner has switched off. */
  denied?: readonly string[];
}

/** The agents that a host takes tasks of. */
export interface ServedAgents {
  /** Another list when anything of it has changed, and only then. */
  list(): readonly ServedAgent[];
  ids(): readonly string[];
  /** Reads the files again that depend on no folder. */
  refresh(): Promise<void>;
  /** Loads through this, and what projects bring is served from then on. */
  readonly agentSource: AgentSource;
  /** Calls back with every other list. */
  onChange(listener: () => void): () => void;
}

/** Keeps the list of what a host serves: what depends on no folder, and what the folders that it has seen bring. */
export function createServedAgents({ agentSource, only, denied = [] }: ServedAgentsOptions): ServedAgents {
  const seen = new Map<string, ServedAgent>();
  const listeners = new Set<() => void>();
  let common = new Map<string, ServedAgent>();
  let list: readonly ServedAgent[] = [];

  const isServed = ({ id, source, disabled }: AgentDefinition): boolean =>
    source.origin !== "remote" && !disabled && !denied.includes(id) && (only === "all" || only.includes(id));
  const servedOf = (registry: AgentRegistry): Map<string, ServedAgent> =>
    new Map(registry.agents.filter(isServed).map((definition) => [definition.id, toServed(definition)]));
  const note = (workspace: string | null, registry: AgentRegistry): void => {
    const served = servedOf(registry);
    if (workspace === null) common = served;
    else {
      for (const [id, agent] of served) {
        if (common.has(id)) continue;
        seen.delete(id);
        seen.set(id, agent);
      }
      for (const id of [...seen.keys()].slice(0, Math.max(0, seen.size - seenMax))) seen.delete(id);
    }
    const now = [...new Map([...seen, ...common]).values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    if (isSame(now, list)) return;
    list = now;
    for (const listener of listeners) listener();
  };

  const load = async (workspace: string | null): Promise<AgentRegistry> => {
    const registry = await agentSource.load(workspace);
    note(workspace, registry);
    return registry;
  };

  return {
    list: () => list,
    ids: () => list.map(idOf),
    async refresh() {
      await load(null);
    },
    agentSource: { load },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function toServed(definition: AgentDefinition): ServedAgent {
  const { prompt: _, ...said } = definition;
  return { definition: said, hash: definitionHashOf(definition) };
}

function idOf({ definition }: ServedAgent): string {
  return definition.id;
}

function isSame(now: readonly ServedAgent[], before: readonly ServedAgent[]): boolean {
  return now.length === before.length && now.every((agent, i) => isSameAgent(agent, before[i]));
}

function isSameAgent(agent: ServedAgent, before: ServedAgent | undefined): boolean {
  return before !== undefined && idOf(agent) === idOf(before) && agent.hash === before.hash;
}
