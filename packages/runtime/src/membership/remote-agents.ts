import type { AgentDefinition, HostDirectory } from "@troupe/core";

/**
 * Agents that living hosts serve, as they announce them: to be asked by id from anywhere. A company takes those of which
 * it has no definition of its own. Their prompts stay with the hosts that run them.
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
