import { type ClusterInfo, JetStreamApiError, type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { freePort } from "./free-port.ts";
import { type NatsServer, startNatsServer } from "./nats-server.ts";
import { until } from "./until.ts";

export const clusterSize = 3;
const streamNotFound = 10059;
const startTriesMax = 3;
/** Between two questions to a cluster. Each question has a connection of its own, and an election takes seconds. */
const askAgainMs = 150;

/** Three servers, each with a store of its own, that are one to their clients. */
export interface NatsCluster {
  /** The addresses of all of them, as clients take them. */
  readonly url: string;
  readonly servers: readonly NatsServer[];
  /** The current leader of a stream. Waits until there is one. */
  leaderOf(stream: string): Promise<NatsServer>;
  /** Servers with a copy of a stream, except its leader. */
  followersOf(stream: string): Promise<NatsServer[]>;
  /** Asks the leader of a stream to step down. Resolves to false if there is no leader. */
  stepDown(stream: string): Promise<boolean>;
  /** Resolves when every server has all of a stream. */
  whole(stream: string): Promise<void>;
  stop(): Promise<void>;
}

/** nats-server flags for one server of a cluster. It dials all others, because any of them may be down. */
export function clusterFlags(name: string, port: number, others: readonly number[]): string[] {
  const at = (to: number): string => `nats://127.0.0.1:${to}`;
  return ["--name", name, "--cluster_name", "troupe", "--cluster", at(port), "--routes", others.map(at).join(",")];
}

/** Starts them on this machine. Resolves when together they can store something. */
export async function startNatsCluster(): Promise<NatsCluster> {
  const names = Array.from({ length: clusterSize }, (_, i) => `s${i + 1}`);
  const servers = await startServers(names);
  const url = servers.map((server) => server.url).join(",");
  await clusterReady(url);

  const named = (name: string | undefined): NatsServer | undefined => servers[names.indexOf(name ?? "")];
  const leaderOf = (stream: string) => until(async () => named((await clusterInfoOf(url, stream))?.leader), askAgainMs);
  return {
    url,
    servers,
    leaderOf,
    async followersOf(stream) {
      const leader = await leaderOf(stream);
      return servers.filter((server) => server !== leader);
    },
    stepDown: (stream) => stepDown(url, `STREAM.LEADER.STEPDOWN.${stream}`),
    async whole(stream) {
      await until(() => isWhole(url, stream), askAgainMs);
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function isNotThere(error: unknown): true {
  if (error instanceof JetStreamApiError && error.code === streamNotFound) return true;
  throw error;
}

/** Another process may have taken a free port meanwhile; then all servers start again on new ports. */
async function startServers(names: readonly string[]): Promise<NatsServer[]> {
  for (let tries = 1; ; tries += 1) {
    const ports = await Promise.all(names.map(() => freePort()));
    const starts = ports.map((port, i) => {
      return startNatsServer({ flags: clusterFlags(names[i] ?? "", port, without(ports, port)) });
    });
    const settled = await Promise.allSettled(starts);
    const servers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    if (servers.length === names.length) return servers;
    await Promise.all(servers.map((server) => server.stop()));
    if (tries === startTriesMax) throw new Error("a cluster does not start", { cause: settled });
  }
}

export function without(ports: readonly number[], own: number): number[] {
  return ports.filter((port) => port !== own);
}

/** Has one server lead a stream and everybody who reads from it, as far as it can be brought to that now. */
export async function makeLeader(url: string, stream: string, server: string): Promise<void> {
  await until(async () => {
    const { leader } = (await clusterInfoOf(url, stream)) ?? {};
    if (leader === server) return true;
    if (leader) await stepDown(url, `STREAM.LEADER.STEPDOWN.${stream}`, server);
    return false;
  });
  const consumers = await ask(url, (manager) => manager.consumers.list(stream).next());
  for (const { name, cluster } of consumers ?? []) {
    if (cluster?.leader !== server) await stepDown(url, `CONSUMER.LEADER.STEPDOWN.${stream}.${name}`, server);
  }
}

/** True when the leader has stepped down. */
async function stepDown(url: string, what: string, preferred?: string): Promise<boolean> {
  const request = preferred === undefined ? "" : JSON.stringify({ placement: { preferred } });
  const timeout = 1_000;
  const answer = await ask(url, (_, connection) => connection.request(`$JS.API.${what}`, request, { timeout }));
  return answer?.json<{ success?: boolean }>().success ?? false;
}

/** Resolves when the servers of a cluster have found each other, and can keep three copies of something. */
export async function clusterReady(url: string): Promise<void> {
  const probe = { name: "probe", subjects: ["probe"], num_replicas: clusterSize };
  await until(() => ask(url, (manager) => manager.streams.add(probe)), askAgainMs);
  // One whose answer came too late is gone as well.
  await until(() => ask(url, (manager) => manager.streams.delete(probe.name).catch(isNotThere)), askAgainMs);
}

/** A server that has died is called current for ten seconds more. */
const silentNanosMax = 2_000_000_000;

/** Whether every server has all of a stream: any of them may die then, and two are left who have all of it. */
export async function isWhole(url: string, stream: string): Promise<boolean> {
  const { leader, replicas = [] } = (await clusterInfoOf(url, stream)) ?? {};
  const isHere = replicas.every(({ current, active }) => current && active < silentNanosMax);
  return Boolean(leader) && replicas.length === clusterSize - 1 && isHere;
}

/** As its leader says. */
async function clusterInfoOf(url: string, stream: string): Promise<ClusterInfo | null> {
  return (await ask(url, (manager) => manager.streams.info(stream)))?.cluster ?? null;
}

/** Asks by a connection of its own, of whichever server answers; null where there is no answer. */
async function ask<T>(
  url: string,
  question: (manager: JetStreamManager, connection: NatsConnection) => Promise<T>,
): Promise<T | null> {
  try {
    const connection = await connect({ servers: url.split(","), timeout: 1_000, reconnect: false });
    try {
      return await question(await jetstreamManager(connection, { checkAPI: false, timeout: 1_000 }), connection);
    } finally {
      await connection.close();
    }
  } catch {
    return null;
  }
}
