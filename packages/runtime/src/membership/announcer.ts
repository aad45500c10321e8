import type { BusMessage, Subscription } from "@troupe/core";
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
import { createEndpoint, type EndpointUse } from "./endpoint.ts";
import type { HostLoad } from "./host-table.ts";

/** A host that is asked over and over answers so often at most. */
const answerEveryMs = 100;

/** What stays the same as long as the process lives. */
export type HostFacts = Pick<
  HostAnnouncement,
  "host" | "role" | "version" | "pid" | "place" | "capacity" | "startedAt" | "beatMs"
>;

export interface AnnouncerOptions extends Pick<HostDeps, "bus" | "subjects" | "clock" | "logger" | "invalidMessages"> {
  facts: HostFacts;
  /** What it serves now. */
  agents(): readonly ServedAgent[];
  load(): HostLoad;
  /** Somebody wants it to take nothing new and to leave. */
  onDrain?(by: string): void;
}

/** A process's own host, as it is told to others. */
export interface HostAnnouncer {
  announcement(): HostAnnouncement;
  load(): HostLoad;
  /** What others can ask of it, and how often they have. */
  endpoints(): readonly EndpointUse[];
  /** Announces itself, and goes on doing so. */
  start(): Promise<void>;
  /** Says at once what has changed: the agents, or that it drains. */
  changed(): void;
  /** Its last word, when it has nothing left. */
  stop(): void;
}

/**
 * Tells all others who this host is and what it serves: at the start, when it is asked, and when that changes; and how
 * busy it is, all the time.
 */
export function createAnnouncer(options: AnnouncerOptions): HostAnnouncer {
  const { bus, subjects, clock, logger, facts, onDrain = () => {} } = options;
  const { host } = facts;
  const invalidMessages = options.invalidMessages ?? createInvalidMessages();
  const asked = createEndpoint("asked", subjects.control(host), clock);
  const drain = createEndpoint("drain", subjects.control(host), clock);
  const subscriptions: Subscription[] = [];
  let stopBeating = (): void => {};
  let stopAnswering: (() => void) | null = null;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let state: "new" | "up" | "left" = "new";
  let made: { of: readonly ServedAgent[]; announcement: HostAnnouncement } | null = null;

  const announcement = (): HostAnnouncement => {
    const agents = options.agents();
    if (made?.of !== agents) made = { of: agents, announcement: announce(facts, agents, bus.payloadBytesMax, logger) };
    return made.announcement;
  };
  const beat = () => {
    const { announced } = announcement();
    return encode({ v: protocolVersion, kind: "host.beat", host, announced, ...options.load() });
  };
  const tell = (): void => {
    if (state !== "up") return;
    answeredAtMs = clock.monotonicMs();
    bus.publish(subjects.host(host), encode(announcement()));
    bus.publish(subjects.host(host), beat());
  };
  const answer = (): void => {
    const waitMs = answeredAtMs + answerEveryMs - clock.monotonicMs();
    if (waitMs <= 0) tell();
    else {
      stopAnswering ??= clock.after(waitMs, () => {
        stopAnswering = null;
        tell();
      });
    }
  };
  const beatOnAndOn = (): void => {
    stopBeating = clock.after(facts.beatMs, () => {
      beatOnAndOn();
      bus.publish(subjects.host(host), beat());
    });
  };
  const onControl = (message: BusMessage): void => {
    const control = decodeMessage(ControlMessage, message, { bus, logger, invalidMessages });
    if (control?.kind === "hosts.asked") {
      asked.handle(() => {
        // Whoever waits for a reply learns that somebody is there; what he is there for, all hear.
        message.respond(beat());
        answer();
      });
    }
    if (control?.kind === "drain.asked" && control.host === host) {
      drain.handle(() => {
        onDrain(control.by);
        message.respond(beat());
      });
    }
  };

  return {
    announcement,
    load: () => options.load(),
    endpoints: () => [asked.use, drain.use],
    async start() {
      const subjectsOfOurs = [subjects.control("all"), subjects.control(host)];
      subscriptions.push(...(await Promise.all(subjectsOfOurs.map((subject) => bus.subscribe(subject, onControl)))));
      state = "up";
      tell();
      beatOnAndOn();
    },
    changed: answer,
    stop() {
      if (state !== "up") return;
      state = "left";
      stopBeating();
      stopAnswering?.();
      for (const subscription of subscriptions) subscription.unsubscribe();
      bus.publish(subjects.host(host), encode({ v: protocolVersion, kind: "host.left", host }));
    },
  };
}

/** What others are told: as many agents as one message carries. */
function announce(
  facts: HostFacts,
  agents: readonly ServedAgent[],
  bytesMax: number,
  logger: AnnouncerOptions["logger"],
): HostAnnouncement {
  const told = { v: protocolVersion, kind: "host.announced", protocol: protocolVersion, ...facts } as const;
  const fitting = withinBytes(agents, Math.min(bytesMax, announcementBytesMax) - headBytes);
  const unsaid = agents.slice(fitting.length).map(({ definition }) => definition.id);
  if (unsaid.length > 0) logger.error({ unsaid }, "more agents than one host can announce: nobody hears of these");
  const announced = hashText(canonicalJson({ ...told, agents: fitting })).slice(0, 32);
  return { ...told, agents: fitting, announced };
}

/** Longer ones are refused by whoever hears them, unread. */
export const announcementBytesMax = 512 * 1024;
/** More than all but the agents can take. */
const headBytes = 2_048;
const agentsMax = 1_000;

function withinBytes(agents: readonly ServedAgent[], bytesMax: number): ServedAgent[] {
  let bytes = 0;
  const over = agents.findIndex((agent, i) => {
    bytes += encode(agent).byteLength + 1;
    return bytes > bytesMax || i >= agentsMax;
  });
  return agents.slice(0, over < 0 ? agents.length : over);
}
