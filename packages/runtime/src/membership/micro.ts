import type { BusMessage } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import type { EndpointUse, HostAnnouncer } from "./announcer.ts";

/** The service name of every host, in every namespace, as the `nats` command shows it. */
export const microName = "troupe-worker";

export interface MicroOptions extends Pick<HostDeps, "bus" | "logger"> {
  /** This process's host. */
  own: Pick<HostAnnouncer, "announcement" | "load" | "endpoints">;
}

export interface MicroService {
  stop(): void;
}

/**
 * Answers the service protocol of NATS (ADR-32), so that `nats micro ls`, `info` and `stats` list every host. If the
 * server forbids these subjects, the host works without them and logs a warning.
 *
 * @example
 * await announcer.start();
 * const micro = await startMicro({ bus, logger, own: announcer });
 * // nats micro info troupe-worker
 */
export async function startMicro({ bus, logger, own }: MicroOptions): Promise<MicroService> {
  const id = own.announcement().host;
  const answers = { PING: () => ping(own), INFO: () => info(own), STATS: () => stats(own) };
  const subscribing = Object.entries(answers).flatMap(([verb, answer]) => {
    const subjects = [`$SRV.${verb}`, `$SRV.${verb}.${microName}`, `$SRV.${verb}.${microName}.${id}`];
    const listener = (message: BusMessage): void => message.respond(encode(answer()));
    return subjects.map((subject) => bus.subscribe(subject, listener));
  });
  const outcomes = await Promise.allSettled(subscribing);
  const refusal = outcomes.find((outcome) => outcome.status === "rejected");
  if (refusal)
    logger.warn({ err: refusal.reason }, "`nats micro ls` does not list this host: the server refused a subscription");
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

/** No queue group: a request to one host must not reach another. */
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

/** The protocol requires a semantic version. The metadata has the host's own version text. */
const semanticVersion =
  /^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/;

/** Further agents are only counted: a host may serve a thousand, and the tool prints them on one line. */
const agentsNamedMax = 50;

function listOf(agents: readonly string[]): string {
  const named = agents.slice(0, agentsNamedMax).join(",");
  return agents.length > agentsNamedMax ? `${named},… (${agents.length})` : named;
}
