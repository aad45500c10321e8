import type { AgentRegistry, RunRequest } from "@troupe/core";
import { isDelegationTool, type RunSpec } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { localityOf } from "../offer-run.ts";
import { definitionHashOf, toolFolderOf } from "./run-spec.ts";

/**
 * Why this host leaves a known run to another host; null if it can resume the run. A run keeps the spec that it started
 * with. The host declines it if a tool or the model's provider is missing here, or if the agent definition here differs
 * and another live host has the original. A host without a directory is the only one and declines nothing.
 */
export async function incompatibility(
  deps: Pick<HostDeps, "hosts" | "tools" | "models" | "hostId">,
  request: RunRequest,
  spec: RunSpec,
  loadRegistry: () => Promise<AgentRegistry>,
): Promise<string | null> {
  if (!deps.hosts) return null;
  const { agent } = request;
  const folder = toolFolderOf(request);
  await deps.tools.prepare?.(folder);
  const available = new Set(deps.tools.specs(folder).map(({ name }) => name));
  const missing = spec.tools.filter(({ name }) => !isDelegationTool(name) && !available.has(name));
  if (missing.length > 0) return `this host lacks the tools ${missing.map(({ name }) => name).join(", ")}`;
  if (deps.models.serves?.(spec.model) === false) return `this host has no provider for the model ${spec.model}`;
  if (!isServedElsewhere(deps, request, spec)) return null;
  const own = (await loadRegistry()).find(agent);
  if (own && definitionHashOf(own) === spec.definitionHash) return null;
  return `this host has ${own ? "another" : "no"} definition of ${agent}, and another host has the original`;
}

/** Whether another live host that may take the run announces the definition that the run started with. */
function isServedElsewhere(
  { hosts, hostId }: Pick<HostDeps, "hosts" | "hostId">,
  request: RunRequest,
  spec: RunSpec,
): boolean {
  const locality = localityOf(request);
  return (hosts?.list() ?? []).some(
    (host) =>
      host.alive &&
      !host.draining &&
      host.host !== hostId &&
      (locality === "any" || host.place === locality) &&
      host.agents.some(({ definition, hash }) => definition.id === request.agent && hash === spec.definitionHash),
  );
}
