import { AgentDefinition, type AgentRegistry, type AgentSource, type Entry, type ToolSpec } from "@troupe/core";
import type { ResolveModel } from "@troupe/core/internal";
import { isDelegate, projectOf, type RunSpec } from "@troupe/core/internal";
import type { Recording } from "./recording.ts";

/** Who plays the runs of a replay: those who played them first, or the agents and tools of today. */
export interface ReplaySources {
  /** Null: it is worked out anew. */
  specOf(run: string): RunSpec | null;
  agentSource(run: string): AgentSource;
  /** Null: each run's own. */
  tools: readonly ToolSpec[] | null;
  resolveModel(run: string): ResolveModel;
}

/** Agents as they were pinned, so that only the code is another. */
export function recordedSources(recording: Recording): ReplaySources {
  return {
    specOf: (run) => pinIn(recording, run),
    agentSource: (run) => ({ load: async () => pinnedCompany(recording.entriesOf(run)) }),
    tools: null,
    resolveModel: (run) => async () => pinIn(recording, run)?.model ?? "",
  };
}

/**
 * Agents and tools as they are now. What a model costs and can read is taken from the record, and so is which one an
 * agent gets that asks for the same as then.
 *
 * @param tools those of today. @default those of the record
 */
export async function currentSources(
  recording: Recording,
  { agentSource, tools = null }: { agentSource: AgentSource; tools?: readonly ToolSpec[] | null },
): Promise<ReplaySources> {
  // Read before anything runs: while a replay goes on, it waits for nothing outside.
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
    tools: tools?.filter(({ name }) => !isDelegate(name)) ?? null,
    resolveModel:
      (run) =>
      async ({ wanted, inherited }) => {
        const pin = pinIn(recording, run);
        if (pin && pin.definition.model === wanted) return pin.model;
        return wanted === "inherit" ? inherited : wanted;
      },
  };
}

function pinIn(recording: Recording, run: string): RunSpec | null {
  const [opened] = recording.entriesOf(run);
  return opened?.kind === "run.opened" ? opened.pin : null;
}

const known = /^no agent is called ".*"; there are: (.*)$/s;

/** Everybody whom the run's opening needs: its own agent, unless nobody was called so. */
function pinnedCompany([opened, next]: readonly Entry[]): AgentRegistry {
  if (opened?.kind !== "run.opened") return registryOf([]);
  const error = next?.kind === "run.settled" ? next.response.error : null;
  if (error?.type !== "unknown_agent") return registryOf([opened.pin.definition]);
  const ids = known.exec(error.message)?.[1]?.split(", ") ?? [];
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
