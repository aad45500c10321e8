import {
  encode,
  type HostOutcome,
  type HostRow,
  type HostView,
  protocolVersion,
  type TroupeService,
} from "@troupe/core";
import type { World } from "../host/world.ts";
import { unknown } from "./unknown.ts";

type Ports = Pick<World, "bus" | "subjects" | "clock"> & Partial<Pick<World, "hosts">>;

/** Who runs agents, and how one of them is told to leave. */
export function createHostControl(world: Ports): Pick<TroupeService, "hosts" | "drainHost"> {
  const { bus, subjects, clock } = world;
  const views = (): HostView[] => world.hosts?.list() ?? [];

  return {
    hosts: async () => views().map((view) => toRow(view, clock.now())),
    async drainHost(host, by): Promise<HostOutcome> {
      const view = views().find((each) => each.host === host);
      if (!view) throw unknown("host", host);
      if (!view.alive) return { host, outcome: "gone" };
      if (view.draining) return { host, outcome: "draining" };
      bus.publish(subjects.control(host), encode({ v: protocolVersion, kind: "drain.asked", host, by }));
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
