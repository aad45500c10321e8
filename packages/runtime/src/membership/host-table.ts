import type { HostAnnouncement, HostHeartbeat, HostView, ServedAgent } from "@troupe/core/internal";

/** The load of a host, from its newest heartbeat. */
export type HostLoad = Pick<HostHeartbeat, "runs" | "busy" | "draining">;

/** A host that misses this many heartbeats in a row counts as gone. */
const missedBeatsMax = 3;

/** Limits on memory: any process on the bus can announce any number of hosts. */
const hostsMax = 1_000;
const bytesMax = 64 * 1024 * 1024;

/** How long the table still lists a host that is gone. */
const rememberMs = 10 * 60_000;

interface KnownHost {
  announcement: HostAnnouncement;
  bytes: number;
  load: HostLoad;
  lastMessageAtMs: number;
  /** It sent `host.left`, or it missed too many heartbeats. */
  gone: boolean;
}

/**
 * The hosts that this process knows. All times come from the caller, on one monotonic clock.
 *
 * @example
 * const table = createHostTable();
 * table.announced(announcement, 900, clock.monotonicMs());
 * table.views(clock.monotonicMs()); // [{ host: "worker-a", alive: true, … }]
 */
export interface HostTable {
  /** `full`: the table cannot hold another host. */
  announced(announcement: HostAnnouncement, bytes: number, nowMs: number): "changed" | "same" | "full";
  /** `unknown`: this process missed the announcement that the heartbeat names. */
  beat(beat: HostHeartbeat, nowMs: number): "changed" | "same" | "unknown";
  /** Marks a host as gone. Returns false if it is unknown or already gone. */
  left(host: string): boolean;
  /** Marks silent hosts as gone and deletes hosts that are gone for long. Returns the names of the newly gone. */
  expire(nowMs: number): string[];
  /** When `expire` next has something to do; null if the table is empty. */
  nextExpiryMs(): number | null;
  views(nowMs: number): HostView[];
  /** Agents of living hosts. If several hosts serve an agent, the host that started last defines it. */
  served(): Map<string, ServedAgent>;
}

export function createHostTable(): HostTable {
  const hosts = new Map<string, KnownHost>();
  let bytesUsed = 0;

  const remove = (host: string): void => {
    bytesUsed -= hosts.get(host)?.bytes ?? 0;
    hosts.delete(host);
  };
  /** Evicts hosts that are gone, the longest silent first, until the bytes fit. False if they still do not fit. */
  const evictGone = (bytes: number): boolean => {
    const gone = [...hosts]
      .filter(([, known]) => known.gone)
      .sort(([, a], [, b]) => a.lastMessageAtMs - b.lastMessageAtMs);
    while (hosts.size >= hostsMax || bytesUsed + bytes > bytesMax) {
      const oldest = gone.shift();
      if (!oldest) return false;
      remove(oldest[0]);
    }
    return true;
  };

  return {
    announced(announcement, bytes, nowMs) {
      const { host } = announcement;
      const before = hosts.get(host);
      if (before && before.announcement.announced === announcement.announced && !before.gone) {
        before.lastMessageAtMs = nowMs;
        return "same";
      }
      remove(host);
      if (!evictGone(bytes)) return "full";
      bytesUsed += bytes;
      const load = before?.load ?? { runs: 0, busy: 0, draining: false };
      hosts.set(host, { announcement, bytes, load, lastMessageAtMs: nowMs, gone: false });
      return "changed";
    },
    beat({ host, announced, runs, busy, draining }, nowMs) {
      const known = hosts.get(host);
      if (!known || known.announcement.announced !== announced) return "unknown";
      const { load, gone } = known;
      const changed = gone || load.runs !== runs || load.busy !== busy || load.draining !== draining;
      Object.assign(known, { load: { runs, busy, draining }, lastMessageAtMs: nowMs, gone: false });
      return changed ? "changed" : "same";
    },
    left(host) {
      const known = hosts.get(host);
      if (!known || known.gone) return false;
      known.gone = true;
      return true;
    },
    expire(nowMs) {
      const missing: string[] = [];
      for (const [host, known] of hosts) {
        if (nowMs < expiryOf(known)) continue;
        if (known.gone) remove(host);
        else missing.push(host);
        known.gone = true;
      }
      return missing;
    },
    nextExpiryMs() {
      const due = [...hosts.values()].map(expiryOf);
      return due.length === 0 ? null : Math.min(...due);
    },
    views: (nowMs) => [...hosts.values()].map((known) => viewOf(known, nowMs)),
    served() {
      const living = [...hosts.values()].filter(({ gone }) => !gone);
      living.sort((a, b) => (a.announcement.startedAt < b.announcement.startedAt ? -1 : 1));
      const agents = living.flatMap(({ announcement }) => announcement.agents);
      return new Map(agents.map((agent) => [agent.definition.id, agent]));
    },
  };
}

/** When a living host counts as gone, or when a host that is gone leaves the table. */
function expiryOf({ announcement, lastMessageAtMs, gone }: KnownHost): number {
  return lastMessageAtMs + (gone ? rememberMs : missedBeatsMax * announcement.beatMs);
}

function viewOf({ announcement, load, lastMessageAtMs, gone }: KnownHost, nowMs: number): HostView {
  return { ...toView(announcement, load), silentMs: Math.max(0, nowMs - lastMessageAtMs), alive: !gone };
}

/** The view of a host that is alive now. */
export function toView({ v: _, kind: __, announced: ___, ...facts }: HostAnnouncement, load: HostLoad): HostView {
  return { ...facts, ...load, silentMs: 0, alive: true };
}
