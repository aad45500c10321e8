import type { RunError, RunRequest } from "@troupe/core";
import { type HostView, permanentError } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { placeOf } from "../host/offer-run.ts";

/** Why nobody can run something, and what to do about it. */
export interface MissingHost {
  message: string;
  fix: string;
}

/**
 * Why nobody who lives can run this; null where somebody can, or where the machine's policy has it wait for a host.
 * Before it says so all hosts are asked, which takes half a second. Fails where they cannot be asked.
 */
export async function missingHost(
  { hosts, delegation }: Pick<HostDeps, "hosts" | "delegation">,
  request: Pick<RunRequest, "agent" | "workspace">,
): Promise<MissingHost | null> {
  const { agent } = request;
  const place = placeOf(request);
  if (!hosts || delegation?.noHost === "queue") return null;
  if ((await hosts.serving(agent, place)).length > 0) return null;
  const isServedBy = ({ agents }: HostView): boolean => agents.some(({ definition }) => definition.id === agent);
  const elsewhere = hosts.list().filter((view) => view.alive && isServedBy(view));
  const where = place === "any" ? "" : ` at the place ${place}, where its files are`;
  const others =
    elsewhere.length > 0 ? `; it is served by ${elsewhere.map(standing).join(", ")}${elsewhereHint(place)}` : "";
  return {
    message: `no living host serves the agent ${agent}${where}${others}`,
    fix: `troupe worker --agents ${agent}${place === "any" ? "" : ` --place ${place}`}`,
  };
}

function elsewhereHint(place: string): string {
  return place === "any" ? "" : ", where it could work in a folder of its own: workspace: isolated, in its file";
}

function standing({ host, place, draining }: HostView): string {
  return `${host} at ${place}${draining ? ", which takes nothing new" : ""}`;
}

/** What becomes of a child that nobody can run. */
export function noHostError({ message, fix }: MissingHost): RunError {
  const words = `${message}. Start one (${fix}), or let runs wait for one (delegation: {noHost: queue} in policy.yaml)`;
  return { ...permanentError("no_host", words), recoverable: true };
}
