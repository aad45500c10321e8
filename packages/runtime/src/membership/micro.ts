import type { BusMessage } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import type { HostAnnouncer } from "./announcer.ts";
import type { EndpointUse } from "./endpoint.ts";

/** What every host of every namespace is called in NATS' own tools. */
export const microName = "troupe-worker";

export interface MicroOptions extends Pick<HostDeps, "bus" | "logger"> {
  /** What this host says of itself. */
  own: Pick<HostAnnouncer, "announcement" | "load" | "endpoints">;
}

export interface MicroService {
  stop(): void;
}

/**
 * Answers the service protocol of NATS (ADR-32), so that `nats micro ls`, `info` and `stats` list every host, with no
 * word of troupe's own. A server that forbids it is no reason not to work: then nobody finds the host that way.
 *
 * @example
 * await announcer.start();
 * const micro = await startMicro({ bus, logger, own: announcer });
 * // nats micro info troupe-worker
 */
export async function startMicro({ bus, logger, own }: MicroOptions): Promise<MicroService> {
  const id = own.announcement().host;
  const answers = { PING: () => ping(own), INFO: () => info(own), STATS: () => stats(own) };
  const wanted = Object.entries(answers).flatMap(([verb, answer]) => {
    const subjects = [`$SRV.${verb}`, `$SRV.${verb}.${microName}`, `$SRV.${verb}.${microName}.${id}`];
    const listener = (message: BusMessage): void => message.respond(encode(answer()));
    return subjects.map((subject) => bus.subscribe(subject, listener));
  });
  const outcomes = await Promise.allSettled(wanted);
  const refusal = outcomes.find((outcome) => outcome.status === "rejected");
  if (refusal) logger.warn({ err: refusal.reason }, "this host is not in the list of `nats micro ls`");
  return {
    stop() {
      for (const outcome of outcomes) if (outcome.status === "fulfilled") outcome.value.unsubscribe();
    },
  };
}

type Own = MicroOptions["own"];

function ping(own: Own) {
  return { type: "io.nats.micro.v1.ping_response", ...identity(own) };
}

function info(own: Own) {
  return {
    type: "io.nats.micro.v1.info_response",
    ...identity(own),
    description: "runs agents of troupe",
    endpoints: own.endpoints().map((use) => ({ ...addressOf(use), metadata: {} })),
  };
}

function stats(own: Own) {
  const { startedAt, capacity } = own.announcement();
  const data = { ...own.load(), capacity };
  return {
    type: "io.nats.micro.v1.stats_response",
    ...identity(own),
    started: startedAt,
    endpoints: own.endpoints().map((use) => ({ ...addressOf(use), ...figuresOf(use), data })),
  };
}

function identity(own: Own) {
  const { host, role, agents, place, protocol, version, pid } = own.announcement();
  const metadata = {
    ...{ host, role, place, version },
    agents: listOf(agents.map(({ definition }) => definition.id)),
    protocol: String(protocol),
    pid: String(pid),
  };
  return { name: microName, id: host, version: semanticVersion.test(version) ? version : "0.0.0", metadata };
}

/** No queue group: what is asked of one host is for no other to answer. */
function addressOf({ name, subject }: EndpointUse) {
  return { name, subject, queue_group: "" };
}

function figuresOf({ requests, errors, lastError, busyMs }: EndpointUse) {
  const nanoseconds = Math.round(busyMs * 1e6);
  return {
    num_requests: requests,
    num_errors: errors,
    last_error: lastError,
    processing_time: nanoseconds,
    average_processing_time: requests === 0 ? 0 : Math.floor(nanoseconds / requests),
  };
}

/** The protocol wants one; the host's own word for its version is in the metadata. */
const semanticVersion =
  /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/;

/** More agents than this are counted: a host may serve a thousand, and the answer is for a line of a table. */
const agentsNamedMax = 50;

function listOf(agents: readonly string[]): string {
  const named = agents.slice(0, agentsNamedMax).join(",");
  return agents.length > agentsNamedMax ? `${named},… (${agents.length})` : named;
}
