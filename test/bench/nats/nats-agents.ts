import { AgentDefinition, type AgentRegistry } from "@troupe/core";
import { benchAgents } from "../bench-agents.ts";

/** Enough that looking into the queues of all of them costs something. */
const others = Array.from({ length: 50 }, (_, i) => `other-${i}`);

export const otherAgents: readonly string[] = others;

const definitions = [
  ...benchAgents.agents,
  ...others.map((id) =>
    AgentDefinition.parse({
      ...{ id, name: id, description: `Does ${id}.`, prompt: `You are ${id}.` },
      source: { origin: "builtin", path: `${id}.md` },
    }),
  ),
];

/** The company of the benchmarks, and fifty more. */
export const natsAgents: AgentRegistry = {
  ...benchAgents,
  agents: definitions,
  find: (id) => definitions.find((definition) => definition.id === id),
};
