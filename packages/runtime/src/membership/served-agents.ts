import type { AgentDefinition, AgentRegistry, AgentSource, HostDirectory } from "@troupe/core";
import { agentIdOf, type ServedAgent } from "@troupe/core/internal";
import { definitionHashOf } from "../host/claim/run-spec.ts";

/** The most project agents that a host serves at once. The least recently loaded ones leave the list. */
const projectAgentsMax = 500;

export interface ServedAgentsOptions {
  /** Loads the agents of this process. Agents that only other hosts serve are left out. */
  agentSource: AgentSource;
  /** The agents that this host serves: ids, `team/agent`, and `team/*` for all agents of a team. */
  only: "all" | readonly string[];
  /** The agents that this machine's policy forbids. */
  denied?: readonly string[];
  /** Whether this host has everything that an agent needs. It is asked at each load. @default it has */
  accepts?(agent: AgentDefinition): boolean;
}

/** The agents whose tasks a host takes. */
export interface ServedAgents {
  /** Returns a new array after a change, and the same array otherwise. */
  list(): readonly ServedAgent[];
  ids(): readonly string[];
  /** Reads the agent files outside of projects again. */
  refresh(): Promise<void>;
  /** Loads through this source; the host then also serves the agents of each project that it loads. */
  readonly agentSource: AgentSource;
  /** Calls the listener after each change. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
}

/**
 * Keeps the list of agents that a host serves: the common agents, and the agents of each project that was loaded.
 *
 * @example
 * const served = createServedAgents({ agentSource, only: "all" });
 * await served.refresh();
 * served.ids(); // ["coder", "main"]
 */
export function createServedAgents(options: ServedAgentsOptions): ServedAgents {
  const { agentSource, only, denied = [], accepts = () => true } = options;
  const ofProjects = new Map<string, ServedAgent>();
  const listeners = new Set<() => void>();
  let common = new Map<string, ServedAgent>();
  let list: readonly ServedAgent[] = [];

  const isServed = (agent: AgentDefinition): boolean => accepts(agent) && isChosen(agent);
  const isChosen = ({ id, source, disabled, team }: AgentDefinition): boolean =>
    source.origin !== "remote" &&
    !disabled &&
    !denied.includes(id) &&
    (only === "all" || only.some((name) => namesAgent(name, { id, team })));
  const servedOf = (registry: AgentRegistry): Map<string, ServedAgent> =>
    new Map(registry.agents.filter(isServed).map((definition) => [definition.id, toServed(definition)]));
  const update = (workspace: string | null, registry: AgentRegistry): void => {
    const served = servedOf(registry);
    if (workspace === null) common = served;
    else {
      for (const [id, agent] of served) {
        if (common.has(id)) continue;
        ofProjects.delete(id);
        ofProjects.set(id, agent);
      }
      const excess = Math.max(0, ofProjects.size - projectAgentsMax);
      for (const id of [...ofProjects.keys()].slice(0, excess)) ofProjects.delete(id);
    }
    const now = [...new Map([...ofProjects, ...common]).values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    if (isSame(now, list)) return;
    list = now;
    for (const listener of listeners) listener();
  };

  const load = async (workspace: string | null): Promise<AgentRegistry> => {
    const registry = await agentSource.load(workspace);
    update(workspace, registry);
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

/** Whether a name of a list of served agents means this agent. */
export function namesAgent(name: string, { id, team }: { id: string; team?: string | undefined }): boolean {
  return name === id || agentIdOf(name) === id || (team !== undefined && name === `${team}/*`);
}

/**
 * The agents that living hosts announce, so that any process can name them. A registry adds the agents that it
 * does not define itself. Their prompts stay on the hosts that run them.
 */
export function remoteAgents(hosts: Pick<HostDirectory, "list" | "served">): AgentDefinition[] {
  const hostsOf = new Map<string, string[]>();
  for (const { host, alive, agents } of hosts.list()) {
    if (!alive) continue;
    for (const { definition } of agents) hostsOf.set(definition.id, [...(hostsOf.get(definition.id) ?? []), host]);
  }
  return [...hosts.served().values()].map(({ definition }) => {
    const path = (hostsOf.get(definition.id) ?? []).join(", ");
    return { ...definition, prompt: `(stays with ${path})`, source: { origin: "remote", path } };
  });
}

function toServed(definition: AgentDefinition): ServedAgent {
  const { prompt: _, ...announced } = definition;
  return { definition: announced, hash: definitionHashOf(definition) };
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
