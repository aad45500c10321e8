import { type HostRow, TroupeError, type TroupeService } from "@troupe/core";
import { encode, type HostOutcome, type HostView, protocolVersion } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";

type Ports = Pick<HostDeps, "bus" | "subjects" | "clock" | "hostId"> & Partial<Pick<HostDeps, "hosts">>;

/** The part of the service that lists hosts and drains one of them. This process's own host comes first. */
export function createHostControl(deps: Ports): Pick<TroupeService, "hosts" | "drainHost"> {
  const { bus, subjects, clock, hostId } = deps;
  const views = (): HostView[] => {
    const all = deps.hosts?.list() ?? [];
    return [...all.filter(({ host }) => host === hostId), ...all.filter(({ host }) => host !== hostId)];
  };

  return {
    hosts: async () => views().map((view) => toRow(view, clock.now())),
    async drainHost(host, by): Promise<HostOutcome> {
      const view = views().find((each) => each.host === host);
      if (!view) throw unknownHost(host, views());
      if (!view.alive) return { host, outcome: "gone" };
      if (view.draining) return { host, outcome: "draining" };
      const request = encode({ v: protocolVersion, kind: "drain.asked", host, by });
      // Hosts of versions before 0.2 listen on the second subject, later ones on the first alone.
      for (const subject of [subjects.drain(host), subjects.control(host)]) bus.publish(subject, request);
      return { host, outcome: "requested" };
    },
  };
}

function toRow(view: HostView, now: number): HostRow {
  const { host, role, version, pid, place, agents, capacity, runs, busy, startedAt, silentMs } = view;
  return {
    ...{ host, role, version, pid, place, capacity, runs, busy, startedAt },
    status: view.alive ? (view.draining ? "draining" : "alive") : "gone",
    agents: agents.map(({ definition, hash }) => ({ id: definition.id, hash })),
    lastHeartbeatAt: new Date(now - silentMs).toISOString(),
  };
}

/** The error lists at most this many hosts. */
const hostsNamedMax = 20;

function unknownHost(given: string, views: readonly HostView[]): TroupeError {
  const names = views.slice(0, hostsNamedMax).map(({ host }) => host);
  const more = views.length > names.length ? ` and ${views.length - names.length} more` : "";
  const known = names.length === 0 ? "no host is known" : `known hosts: ${names.join(", ")}${more}`;
  return new TroupeError("UNKNOWN_HOST", `there is no host ${JSON.stringify(given)}; ${known}`, {
    fix: "troupe hosts ls",
  });
}
