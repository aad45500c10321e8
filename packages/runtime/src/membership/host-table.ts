import type { HostAnnouncement, HostHeartbeat, HostView, ServedAgent } from "@troupe/core/internal";

/** What a host says of its work, from heartbeat to heartbeat. */
export type HostLoad = Pick<HostHeartbeat, "runs" | "busy" | "draining">;

/** So many beats in a row that nothing was heard of: it is taken for gone. */
const missedBeatsMax = 3;

/** Hosts, and bytes of what they say of themselves, that are kept in memory: anybody can send anything. */
const hostsMax = 1_000;
const bytesMax = 64 * 1024 * 1024;

/** How long somebody who has gone is shown to people. */
const rememberMs = 10 * 60_000;

interface KnownHost {
  announcement: HostAnnouncement;
  bytes: number;
  load: HostLoad;
  heardAtMs: number;
  /** It said so itself, or it was silent for too long. */
  gone: boolean;
}

/**
 * What was heard of other hosts. Times are of one clock that never jumps; only what it is told here moves it on.
 *
 * @example
 * const table = createHostTable();
 * table.announced(announcement, 900, clock.monotonicMs());
 * table.views(clock.monotonicMs()); // [{ host: "worker-a", alive: true, … }]
 */
export interface HostTable {
  /** `full`: there is no room for another host. */
  announced(announcement: HostAnnouncement, bytes: number, nowMs: number): "changed" | "same" | "full";
  /** `unknown`: its announcement was not heard, or is another one by now. */
  beat(beat: HostHeartbeat, nowMs: number): "changed" | "same" | "unknown";
  /** Whether there was such a host. */
  left(host: string): boolean;
  /** Marks the silent, forgets those who have been gone for long, and names those who have just been missed. */
  expire(nowMs: number): string[];
  /** When somebody may be missed, or forgotten, next; null with nobody there. */
  nextExpiryMs(): number | null;
  views(nowMs: number): HostView[];
  /** Agents of living hosts, each with the definition of the host that started last. */
  served(): Map<string, ServedAgent>;
}

export function createHostTable(): HostTable {
  const hosts = new Map<string, KnownHost>();
  let bytesKept = 0;

  const forget = (host: string): void => {
    bytesKept -= hosts.get(host)?.bytes ?? 0;
    hosts.delete(host);
  };
  /** Those who have gone make room, the one that was heard of longest ago first. */
  const makeRoom = (bytes: number): boolean => {
    const gone = [...hosts].filter(([, known]) => known.gone).sort(([, a], [, b]) => a.heardAtMs - b.heardAtMs);
    while (hosts.size >= hostsMax || bytesKept + bytes > bytesMax) {
      const oldest = gone.shift();
      if (!oldest) return false;
      forget(oldest[0]);
    }
    return true;
  };

  return {
    announced(announcement, bytes, nowMs) {
      const { host } = announcement;
      const before = hosts.get(host);
      if (before && before.announcement.announced === announcement.announced && !before.gone) {
        before.heardAtMs = nowMs;
        return "same";
      }
      forget(host);
      if (!makeRoom(bytes)) return "full";
      bytesKept += bytes;
      const load = before?.load ?? { runs: 0, busy: 0, draining: false };
      hosts.set(host, { announcement, bytes, load, heardAtMs: nowMs, gone: false });
      return "changed";
    },
    beat({ host, announced, runs, busy, draining }, nowMs) {
      const known = hosts.get(host);
      if (!known || known.announcement.announced !== announced) return "unknown";
      const { load, gone } = known;
      const changed = gone || load.runs !== runs || load.busy !== busy || load.draining !== draining;
      Object.assign(known, { load: { runs, busy, draining }, heardAtMs: nowMs, gone: false });
      return changed ? "changed" : "same";
    },
    left(host) {
      const known = hosts.get(host);
      if (!known || known.gone) return false;
      known.gone = true;
      return true;
    },
    expire(nowMs) {
      const missed: string[] = [];
      for (const [host, known] of hosts) {
        if (nowMs < expiryOf(known)) continue;
        if (known.gone) forget(host);
        else missed.push(host);
        known.gone = true;
      }
      return missed;
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

/** When it is taken for gone; of somebody who has gone, when he is forgotten. */
function expiryOf({ announcement, heardAtMs, gone }: KnownHost): number {
  return heardAtMs + (gone ? rememberMs : missedBeatsMax * announcement.beatMs);
}

function viewOf({ announcement, load, heardAtMs, gone }: KnownHost, nowMs: number): HostView {
  return { ...toView(announcement, load), silentMs: Math.max(0, nowMs - heardAtMs), alive: !gone };
}

/** A host that was heard of just now. */
export function toView({ v: _, kind: __, announced: ___, ...said }: HostAnnouncement, load: HostLoad): HostView {
  return { ...said, ...load, silentMs: 0, alive: true };
}
