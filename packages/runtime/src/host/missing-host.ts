import type { RunError, RunRequest } from "@troupe/core";
import { type HostView, permanentError } from "@troupe/core/internal";
import type { HostDeps } from "./host-deps.ts";
import { localityOf } from "./offer-run.ts";

/** Why no host can run a request, and the command that starts such a host. */
export interface MissingHost {
  message: string;
  fix: string;
}

/**
 * Explains why no living host can run the request. Null if a host can, or if the policy lets such runs wait. If no
 * known host can, this first queries all hosts, which takes half a second. Rejects if the query cannot be sent.
 */
export async function missingHost(
  { hosts, delegation }: Pick<HostDeps, "hosts" | "delegation">,
  request: Pick<RunRequest, "agent" | "workspace">,
): Promise<MissingHost | null> {
  const { agent } = request;
  const locality = localityOf(request);
  if (!hosts || delegation?.noHost === "queue") return null;
  if ((await hosts.serving(agent, locality)).length > 0) return null;
  const servesAgent = ({ agents }: HostView): boolean => agents.some(({ definition }) => definition.id === agent);
  const elsewhere = hosts.list().filter((view) => view.alive && servesAgent(view));
  const where = locality === "any" ? "" : ` at the place ${locality}, where its files are`;
  const others =
    elsewhere.length > 0 ? `; it is served by ${elsewhere.map(describe).join(", ")}${isolatedHint(locality)}` : "";
  return {
    message: `no living host serves the agent ${agent}${where}${others}`,
    fix: `troupe worker --agents ${agent}${locality === "any" ? "" : ` --place ${locality}`}`,
  };
}

function isolatedHint(locality: string): string {
  return locality === "any" ? "" : ", where it could work in a folder of its own: workspace: isolated, in its file";
}

function describe({ host, place, draining }: HostView): string {
  return `${host} at ${place}${draining ? ", which takes nothing new" : ""}`;
}

/** The error of a child run that no host can run. Its text is stored in the journal, so it must not change. */
export function noHostError({ message, fix }: MissingHost): RunError {
  const text = `${message}. Start one (${fix}), or let runs wait for one (delegation: {noHost: queue} in policy.yaml)`;
  return { ...permanentError("no_host", text), recoverable: true };
}
