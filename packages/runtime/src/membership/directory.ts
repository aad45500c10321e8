import { type BusMessage, type HostDirectory, type Subscription, TroupeError } from "@troupe/core";
import {
  createInvalidMessages,
  decode,
  encode,
  HostMessage,
  type HostView,
  type InvalidMessageKind,
  protocolVersion,
  type ServedAgent,
} from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { announcementBytesMax, type HostAnnouncer } from "./announcer.ts";
import { createHostTable, toView } from "./host-table.ts";

export interface HostDirectoryOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger"> {
  /** This process's own host, or null if it runs none. Messages in its name from other processes are ignored. */
  own: Pick<HostAnnouncer, "announcement" | "load"> | null;
  /** Whether the own host takes tasks of every agent, including agents that no host announced. @default false */
  ownServesAll?: boolean;
  /** How long `serving` waits for all hosts to answer. @default 500 */
  askMs?: number;
  /** A host has stopped sending heartbeats. Its runs can soon move to another host. */
  onMissing?(host: string): void;
}

/** A directory that listens until it is stopped. */
export interface RunningHostDirectory extends HostDirectory {
  /** Subscribes and queries every host. */
  start(): Promise<void>;
  stop(): void;
  /** Number of invalid messages so far. */
  readonly refused: number;
}

const askMsDefault = 500;

/** The shortest time between two queries for announcements that this process missed. */
const queryUnknownEveryMs = 100;

/**
 * Knows which hosts are alive and which agents they serve, from the announcements and heartbeats on the bus. A host
 * that misses three heartbeats counts as gone. Invalid messages are counted and ignored.
 *
 * @example
 * const hosts = createHostDirectory({ bus, subjects, clock, logger, own: null });
 * await hosts.start();
 * await hosts.serving("coder", "any"); // the living hosts that serve "coder"
 */
export function createHostDirectory(options: HostDirectoryOptions): RunningHostDirectory {
  const { bus, subjects, clock, logger, own, ownServesAll = false, onMissing = () => {} } = options;
  const askMs = options.askMs ?? askMsDefault;
  const table = createHostTable();
  const invalidMessages = createInvalidMessages();
  const listeners = new Set<() => void>();
  const queryHosts = createHostQuery(options);
  let subscription: Subscription | null = null;
  let stopWaiting = (): void => {};
  let queriedUnknownAtMs = Number.NEGATIVE_INFINITY;

  const ignore = (kind: InvalidMessageKind, subject: string, why: string, detail: object): null => {
    const isFirst = invalidMessages.note(kind, subject, why);
    if (isFirst) logger.warn({ ...detail, why }, "message of a host ignored; more of this kind are only counted");
    return null;
  };

  const notifyListeners = (): void => {
    for (const listener of [...listeners]) listener();
  };

  const scheduleExpiry = (): void => {
    stopWaiting();
    const due = table.nextExpiryMs();
    if (due === null || subscription === null) return;
    stopWaiting = clock.after(Math.max(1, due - clock.monotonicMs()), () => {
      const missing = table.expire(clock.monotonicMs());
      for (const host of missing) {
        logger.warn({ host }, "a host has stopped sending heartbeats");
        onMissing(host);
      }
      if (missing.length > 0) notifyListeners();
      scheduleExpiry();
    });
  };

  const onHost = (message: BusMessage): void => {
    const received = readHostMessage(message);
    const now = clock.monotonicMs();
    if (received === null || isOwn(received, message.subject)) return;
    const { host } = received;
    if (received.kind === "host.left") {
      if (!table.left(host)) return;
      logger.info({ host }, "a host has left");
      notifyListeners();
      return;
    }
    const expiryBefore = table.nextExpiryMs();
    const outcome =
      received.kind === "host.beat"
        ? table.beat(received, now)
        : table.announced(received, message.bytes.byteLength, now);
    if (outcome === "full") ignore("oversized", message.subject, "the table of hosts is full", { host });
    if (outcome === "unknown") queryUnknown(host);
    if (expiryBefore === null) scheduleExpiry();
    if (outcome === "changed") notifyListeners();
  };

  const readHostMessage = ({ subject, bytes }: BusMessage): HostMessage | null => {
    const parsed = subjects.parse(subject);
    if (parsed?.kind !== "host") return null;
    if (bytes.byteLength > announcementBytesMax) {
      return ignore("oversized", subject, "larger than an announcement may be", { subject, bytes: bytes.byteLength });
    }
    try {
      const received = decode(HostMessage, bytes, `message on ${subject}`);
      if (received.host === parsed.host) return received;
      return ignore("foreign", subject, "sent in another host's name", { subject, host: received.host });
    } catch (error) {
      if (!TroupeError.is(error)) throw error;
      return ignore("malformed", subject, "it does not fit its schema", { subject, err: error });
    }
  };

  const isOwn = (received: HostMessage, subject: string): boolean => {
    const ours = own?.announcement();
    if (received.host !== ours?.host) return false;
    const isOtherProcess =
      received.kind === "host.announced" && (received.pid !== ours.pid || received.startedAt !== ours.startedAt);
    if (isOtherProcess) {
      ignore("foreign", subject, "another process has this host's name", { host: received.host, pid: received.pid });
    }
    return true;
  };

  const queryUnknown = (host: string): void => {
    const now = clock.monotonicMs();
    if (now - queriedUnknownAtMs < queryUnknownEveryMs) return;
    queriedUnknownAtMs = now;
    bus.publish(subjects.control(host), query);
  };

  const list = (): HostView[] => {
    const others = table.views(clock.monotonicMs());
    const ours = own ? [toView(own.announcement(), own.load())] : [];
    return [...ours, ...others].sort((a, b) => (a.host < b.host ? -1 : 1));
  };

  const isOwnView = ({ host }: HostView): boolean => host === own?.announcement().host;
  const serves = (view: HostView, agent: string): boolean =>
    (ownServesAll && isOwnView(view)) || view.agents.some(({ definition }) => definition.id === agent);
  const servingNow = (agent: string, locality: string): HostView[] =>
    list().filter(
      (view) => view.alive && !view.draining && (locality === "any" || view.place === locality) && serves(view, agent),
    );

  return {
    list,
    async serving(agent, locality) {
      const known = servingNow(agent, locality);
      if (known.length > 0) return known;
      const found = Promise.withResolvers<void>();
      const check = (): void => {
        if (servingNow(agent, locality).length > 0) found.resolve();
      };
      listeners.add(check);
      const stop = clock.after(askMs, () => void replied.then(found.resolve, () => {}));
      const replied = queryHosts();
      replied.catch(found.reject);
      try {
        await found.promise;
      } finally {
        stop();
        listeners.delete(check);
      }
      return servingNow(agent, locality);
    },
    served() {
      const served = table.served();
      const ours = own?.announcement().agents ?? [];
      for (const { definition } of ours) served.delete(definition.id);
      return served as ReadonlyMap<string, ServedAgent>;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async start() {
      subscription = await bus.subscribe(subjects.all.host, onHost);
      bus.publish(subjects.control("all"), query);
    },
    stop() {
      stopWaiting();
      subscription?.unsubscribe();
      subscription = null;
    },
    get refused() {
      return invalidMessages.count;
    },
  };
}

/** Asks hosts to announce themselves. */
const query = encode({ v: protocolVersion, kind: "hosts.asked" });

/** After this time without a reply the bus counts as broken, because every living host replies at once. */
const replyMs = 2_000;

/**
 * Queries all hosts; concurrent callers share one query. Resolves when one host replied or when no host exists. The
 * hosts announce themselves to all subscribers. Rejects if the query cannot be sent.
 */
function createHostQuery({ bus, subjects }: Pick<HostDeps, "bus" | "subjects">): () => Promise<void> {
  let pending: Promise<void> | null = null;
  const send = async (): Promise<void> => {
    try {
      await bus.request(subjects.control("all"), query, { timeoutMs: replyMs });
    } catch (error) {
      if (TroupeError.is(error) && error.code === "NO_RESPONDERS") return;
      throw error;
    }
  };
  return () => {
    pending ??= send().finally(() => {
      pending = null;
    });
    return pending;
  };
}
