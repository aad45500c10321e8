import { type AgentRegistry, TroupeError } from "@troupe/core";
import { agentIdOf, agentNameOf, unknownAgent } from "@troupe/core/internal";
import { namesAgent } from "@troupe/runtime/internal";
import type { ProcessParts } from "./open-process.ts";
import type { ServeOptions } from "./running-troupe.ts";

/**
 * Loads the served agents. Throws `UNKNOWN_AGENT` for an id that no agent of this machine has.
 *
 * @param project a folder whose agents may be named too
 */
export async function checkServed(
  { served }: Pick<ProcessParts, "served">,
  { serve }: Pick<ServeOptions, "serve">,
  project: string | null = null,
): Promise<void> {
  const registry = await served.agentSource.load(null);
  if (serve === "all") return;
  const isMissing = (name: string): boolean => !served.list().some(({ definition }) => namesAgent(name, definition));
  const missing = serve.filter(isMissing);
  if (missing.length === 0) return;
  const ofProject = project === null ? registry : await served.agentSource.load(project);
  const unknown = missing.find(isMissing);
  if (unknown !== undefined) throw notServed(unknown, ofProject);
}

function notServed(id: string, { agents, find }: AgentRegistry): TroupeError {
  const own = agents.filter(({ source }) => source.origin !== "remote");
  const known = own.filter(({ disabled }) => !disabled).map(agentNameOf);
  const found = find(agentIdOf(id));
  if (found && found.source.origin !== "remote" && !found.disabled) return noOffice(id);
  const why = found && found.source.origin !== "remote" ? "is disabled" : "does not exist";
  return unknownAgent(id, known, `the agent ${JSON.stringify(id)} ${why}`);
}

/** A worker has the tools of an office only if its home has one. */
function noOffice(id: string): TroupeError {
  return new TroupeError("CONFLICT", `the agent ${JSON.stringify(id)} needs an office, and this home has none`, {
    fix: "troupe office seed   # or troupe office import, or connect an account",
  });
}
