import { AgentDefinition, type AgentRegistry, type AgentSource, type Entry, type ToolSpec } from "@troupe/core";
import { isDelegationTool, projectOf, type ResolveModel, type RunSpec } from "@troupe/core/internal";
import type { AgentHints } from "../host/host-deps.ts";
import type { Recording } from "./recording.ts";

/** Where a replay gets agents, tools and models from: the recording, or the definitions of now. */
export interface ReplaySources {
  /** The pinned run spec; null to resolve it anew. */
  specOf(run: string): RunSpec | null;
  agentSource(run: string): AgentSource;
  /** The tools of all runs; null for the tools that each run was opened with. */
  tools: readonly ToolSpec[] | null;
  resolveModel(run: string): ResolveModel;
}

/** Uses the pinned agents, so that a divergence can only come from the code. */
export function recordedSources(recording: Recording): ReplaySources {
  return {
    specOf: (run) => specIn(recording, run),
    agentSource: (run) => ({ load: async () => recordedRegistry(recording.entriesOf(run)) }),
    tools: null,
    resolveModel: (run) => async () => specIn(recording, run)?.model ?? "",
  };
}

/**
 * Uses the agents and tools of now. Prices and context sizes of models still come from the recording. So does the model
 * of an agent whose definition still names the same one.
 *
 * @param tools the tools of now. @default the recorded tools
 */
export async function currentSources(
  recording: Recording,
  { agentSource, tools = null }: { agentSource: AgentSource; tools?: readonly ToolSpec[] | null },
): Promise<ReplaySources> {
  // Loads all registries first: a replay must not wait for I/O.
  const loaded = new Map<string, AgentRegistry>();
  for (const item of recording.items) {
    if (item.kind !== "entry" || item.entry.kind !== "run.opened") continue;
    const path = projectOf(item.entry.request);
    if (!loaded.has(path)) loaded.set(path, await agentSource.load(path));
  }
  return {
    specOf: () => null,
    agentSource: () => ({
      load: async (workspace) => loaded.get(workspace ?? "") ?? (await agentSource.load(workspace)),
    }),
    tools: tools?.filter(({ name }) => !isDelegationTool(name)) ?? null,
    resolveModel:
      (run) =>
      async ({ wanted, inherited }) => {
        const spec = specIn(recording, run);
        if (spec && spec.definition.model === wanted) return spec.model;
        return wanted === "inherit" ? inherited : wanted;
      },
  };
}

/** The hints that the run was opened with: the record has changed since, and that is not a change of an agent. */
export function recordedHints(recording: Recording, run: string): AgentHints {
  return { hintFor: ({ agent }) => specIn(recording, run)?.targets.find(({ id }) => id === agent)?.hint };
}

function specIn(recording: Recording, run: string): RunSpec | null {
  const [opened] = recording.entriesOf(run);
  return opened?.kind === "run.opened" ? opened.pin : null;
}

const unknownAgent = /^no agent is called ".*"; there are: (.*)$/s;

/**
 * The agents that the run's opening needs: its own, or none of its name if the run failed with `unknown_agent`. Then the
 * recorded message lists the other agents, and the same message must come out again.
 */
function recordedRegistry([opened, next]: readonly Entry[]): AgentRegistry {
  if (opened?.kind !== "run.opened") return registryOf([]);
  const error = next?.kind === "run.settled" ? next.response.error : null;
  if (error?.type !== "unknown_agent") return registryOf([opened.pin.definition]);
  const ids = unknownAgent.exec(error.message)?.[1]?.split(", ") ?? [];
  return registryOf(ids.filter(Boolean).map((id) => AgentDefinition.parse({ ...opened.pin.definition, id })));
}

function registryOf(agents: readonly AgentDefinition[]): AgentRegistry {
  return {
    agents,
    problems: [],
    find: (id) => agents.find((agent) => agent.id === id),
    renderPrompt: ({ prompt }) => prompt,
  };
}
