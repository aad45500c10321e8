import type { AgentRegistry, RunRequest } from "@troupe/core";
import { isDelegate, type RunSpec } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { placeOf } from "../offer-run.ts";
import { toolFolderOf } from "../tool-folder.ts";
import { definitionHashOf } from "./run-spec.ts";

/**
 * Why a host leaves a run that was begun elsewhere to another host; null where it can take it. A run goes on with what it
 * was pinned to: with a tool or a model's provider missing here it could not, and where its definition has changed here
 * those who still have it come first. Where all live in one process there is nobody to leave it to.
 */
export async function incompatibility(
  deps: Pick<HostDeps, "hosts" | "tools" | "models" | "hostId">,
  request: RunRequest,
  pin: RunSpec,
  loadCompany: () => Promise<AgentRegistry>,
): Promise<string | null> {
  if (!deps.hosts) return null;
  const { agent } = request;
  const folder = toolFolderOf(request);
  await deps.tools.prepare?.(folder);
  const there = new Set(deps.tools.specs(folder).map(({ name }) => name));
  const missing = pin.tools.filter(({ name }) => !isDelegate(name) && !there.has(name));
  if (missing.length > 0) return `tools that are not here: ${missing.map(({ name }) => name).join(", ")}`;
  if (deps.models.serves?.(pin.model) === false) return `no provider here for its model ${pin.model}`;
  if (!isServedElsewhere(deps, request, pin)) return null;
  const own = (await loadCompany()).find(agent);
  if (own && definitionHashOf(own) === pin.definitionHash) return null;
  return `the definition of ${agent} is ${own ? "another" : "not there"} here, and another host has the one it began with`;
}

/** Whether another living host announces the very definition that the run was begun with, where the run may go. */
function isServedElsewhere(
  { hosts, hostId }: Pick<HostDeps, "hosts" | "hostId">,
  request: RunRequest,
  pin: RunSpec,
): boolean {
  const place = placeOf(request);
  return (hosts?.list() ?? []).some(
    (host) =>
      host.alive &&
      !host.draining &&
      host.host !== hostId &&
      (place === "any" || host.place === place) &&
      host.agents.some(({ definition, hash }) => definition.id === request.agent && hash === pin.definitionHash),
  );
}
