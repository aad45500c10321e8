import type { BusMessage, Clock, Subscription } from "@troupe/core";
import {
  ControlMessage,
  canonicalJson,
  createInvalidMessages,
  encode,
  type HostAnnouncement,
  hashText,
  protocolVersion,
  type ServedAgent,
} from "@troupe/core/internal";
import { decodeMessage } from "../host/decode-message.ts";
import type { HostDeps } from "../host/host-deps.ts";
import type { HostLoad } from "./host-table.ts";

/** A host that receives many queries sends its announcement at most this often. */
const replyEveryMs = 100;

/** The fields of an announcement that stay the same for the life of the process. */
export type HostFacts = Pick<
  HostAnnouncement,
  "host" | "role" | "version" | "pid" | "place" | "capacity" | "startedAt" | "beatMs"
>;

export interface AnnouncerOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger" | "invalidMessages"> {
  facts: HostFacts;
  /** The agents that this host serves now. A change must return a new array. */
  agents(): readonly ServedAgent[];
  /** The current load of this host. */
  load(): HostLoad;
  /** A person asked this host to take no new task and to leave. */
  onDrain?(by: string): void;
}

/** Announces this process's host to all other hosts. */
export interface HostAnnouncer {
  announcement(): HostAnnouncement;
  load(): HostLoad;
  /** The requests that other processes can send to this host, with their counts. */
  endpoints(): readonly EndpointUse[];
  /** Sends the first announcement and then a heartbeat every `facts.beatMs`. */
  start(): Promise<void>;
  /** Sends a new announcement after the agents or the load changed. */
  changed(): void;
  /** Sends `host.left` and stops. */
  stop(): void;
}

/**
 * Announces which agents this host serves: at the start, when another process asks, and after each change. Between
 * announcements it sends heartbeats with the host's load.
 *
 * @example
 * const announcer = createAnnouncer({ bus, subjects, clock, logger, facts, agents: served.list, load: host.load });
 * await announcer.start();
 * served.onChange(() => announcer.changed());
 */
export function createAnnouncer(options: AnnouncerOptions): HostAnnouncer {
  const { bus, subjects, clock, logger, facts, onDrain = () => {} } = options;
  const { host } = facts;
  const invalidMessages = options.invalidMessages ?? createInvalidMessages();
  const queries = createEndpoint("asked", subjects.control(host), clock);
  const drains = createEndpoint("drain", subjects.drain(host), clock);
  const subscriptions: Subscription[] = [];
  let stopBeating = (): void => {};
  let stopReply: (() => void) | null = null;
  let announcedAtMs = Number.NEGATIVE_INFINITY;
  let state: "new" | "up" | "left" = "new";
  let cached: { agents: readonly ServedAgent[]; announcement: HostAnnouncement } | null = null;

  const announcement = (): HostAnnouncement => {
    const agents = options.agents();
    if (cached?.agents !== agents) {
      cached = { agents, announcement: buildAnnouncement(facts, agents, bus.payloadBytesMax, logger) };
    }
    return cached.announcement;
  };
  const encodeBeat = () => {
    const { announced } = announcement();
    return encode({ v: protocolVersion, kind: "host.beat", host, announced, ...options.load() });
  };
  const announce = (): void => {
    if (state !== "up") return;
    announcedAtMs = clock.monotonicMs();
    bus.publish(subjects.host(host), encode(announcement()));
    bus.publish(subjects.host(host), encodeBeat());
  };
  const announceSoon = (): void => {
    const waitMs = announcedAtMs + replyEveryMs - clock.monotonicMs();
    if (waitMs <= 0) announce();
    else {
      stopReply ??= clock.after(waitMs, () => {
        stopReply = null;
        announce();
      });
    }
  };
  const scheduleBeat = (): void => {
    stopBeating = clock.after(facts.beatMs, () => {
      scheduleBeat();
      bus.publish(subjects.host(host), encodeBeat());
    });
  };
  const onControl = (message: BusMessage): void => {
    const control = decodeMessage(ControlMessage, message, { bus, logger, invalidMessages });
    if (control?.kind === "hosts.asked") {
      queries.handle(() => {
        // The reply tells the caller that a host exists. The announcement goes to every listener.
        message.respond(encodeBeat());
        announceSoon();
      });
    }
  };
  // A request to drain on another subject does not count: the server lets every worker send questions and hints.
  const onDrainSubject = (message: BusMessage): void => {
    const control = decodeMessage(ControlMessage, message, { bus, logger, invalidMessages });
    if (control?.kind === "drain.asked" && control.host === host) {
      drains.handle(() => {
        onDrain(control.by);
        message.respond(encodeBeat());
      });
    }
  };

  return {
    announcement,
    load: () => options.load(),
    endpoints: () => [queries.use, drains.use],
    async start() {
      const listened = [
        bus.subscribe(subjects.control("all"), onControl),
        bus.subscribe(subjects.control(host), onControl),
        bus.subscribe(subjects.drain(host), onDrainSubject).catch((error: unknown) => {
          // Rights of version 0.1 do not contain this subject. Such a host runs, and leaves on a signal.
          logger.warn({ error }, "no other host can drain this one");
        }),
      ];
      subscriptions.push(...(await Promise.all(listened)).filter((subscription) => subscription !== undefined));
      state = "up";
      announce();
      scheduleBeat();
    },
    changed: announceSoon,
    stop() {
      if (state !== "up") return;
      state = "left";
      stopBeating();
      stopReply?.();
      for (const subscription of subscriptions) subscription.unsubscribe();
      bus.publish(subjects.host(host), encode({ v: protocolVersion, kind: "host.left", host }));
    },
  };
}

/** Builds the announcement with as many agents as fit into one message. */
function buildAnnouncement(
  facts: HostFacts,
  agents: readonly ServedAgent[],
  bytesMax: number,
  logger: AnnouncerOptions["logger"],
): HostAnnouncement {
  const head = { v: protocolVersion, kind: "host.announced", protocol: protocolVersion, ...facts } as const;
  const fitting = withinBytes(agents, Math.min(bytesMax, announcementBytesMax) - headBytes);
  const omitted = agents.slice(fitting.length).map(({ definition }) => definition.id);
  if (omitted.length > 0) {
    logger.error({ unsaid: omitted }, "too many agents for one announcement: other hosts do not learn of these");
  }
  const announced = hashText(canonicalJson({ ...head, agents: fitting })).slice(0, 32);
  return { ...head, agents: fitting, announced };
}

/** Receivers ignore longer announcements without reading them. */
export const announcementBytesMax = 512 * 1024;
/** Reserved for the fields of an announcement besides its agents. */
const headBytes = 2_048;
const agentsMax = 1_000;

function withinBytes(agents: readonly ServedAgent[], bytesMax: number): ServedAgent[] {
  let bytes = 0;
  const firstOver = agents.findIndex((agent, i) => {
    bytes += encode(agent).byteLength + 1;
    return bytes > bytesMax || i >= agentsMax;
  });
  return agents.slice(0, firstOver < 0 ? agents.length : firstOver);
}

/** How often other processes used one kind of request, in the terms of the NATS service protocol. */
export interface EndpointUse {
  name: string;
  subject: string;
  requests: number;
  errors: number;
  /** Empty if no request failed. */
  lastError: string;
  /** Time that all requests together took. */
  busyMs: number;
}

interface Endpoint {
  readonly use: Readonly<EndpointUse>;
  /** Runs `act` and counts it. An error is counted and thrown again. */
  handle(act: () => void): void;
}

function createEndpoint(name: string, subject: string, clock: Pick<Clock, "monotonicMs">): Endpoint {
  const use: EndpointUse = { name, subject, requests: 0, errors: 0, lastError: "", busyMs: 0 };
  return {
    use,
    handle(act) {
      const startedAtMs = clock.monotonicMs();
      use.requests += 1;
      try {
        act();
      } catch (error) {
        use.errors += 1;
        use.lastError = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        use.busyMs += clock.monotonicMs() - startedAtMs;
      }
    },
  };
}
