import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { freePort } from "../../harness/free-port.ts";
import { clusterFlags, clusterReady, clusterSize, without } from "../../harness/nats-cluster.ts";
import { findNatsServer, natsServerMissing } from "../../harness/nats-server.ts";
import { createMember, type Member } from "./member.ts";
import { type RouteProxies, startRouteProxies } from "./route-proxies.ts";
import type { Scope } from "./scope.ts";

export interface NatsMember extends Member {
  readonly port: number;
  readonly store: string;
  /** Removes all that it has stored; only while it is down. */
  wipe(): Promise<void>;
}

export interface NatsMemberOptions {
  scope: Scope;
  folder: string;
  name?: string;
  /** @default 127.0.0.1 */
  address?: string;
  /** Time of the sync to disk: before each acknowledgement, or within two minutes (the server's default). */
  sync?: "always" | "default";
  /** @default a folder beside its log */
  store?: string;
  /** More flags of its command. */
  flags?: readonly string[];
}

/** A real nats-server with JetStream, on the same port and with the same store in each of its lives. */
export async function createNatsMember(options: NatsMemberOptions): Promise<NatsMember> {
  const { scope, folder, name = "nats", address = "127.0.0.1", sync = "default", flags = [] } = options;
  const binary = findNatsServer();
  if (binary === null) throw new Error(natsServerMissing);
  const store = options.store ?? path.join(folder, `${name}-store`);
  await mkdir(store, { recursive: true });
  const configuration = path.join(folder, `${name}.conf`);
  const lines = [`store_dir: ${JSON.stringify(store)}`, ...(sync === "always" ? ["sync_interval: always"] : [])];
  await writeFile(configuration, `jetstream {\n  ${lines.join("\n  ")}\n}\n`);
  const port = await freePort(address);
  const member = createMember({
    name,
    kind: "nats",
    scope,
    logFile: path.join(folder, `${name}.log`),
    command: () => ({
      command: binary,
      args: ["--config", configuration, "--addr", address, "--port", String(port), ...flags],
      env: { PATH: process.env.PATH ?? "" },
    }),
    readReady: (line) => (line.endsWith("Server is ready") ? {} : null),
  });
  return Object.assign(member, { port, store, wipe: () => rm(store, { recursive: true, force: true }) });
}

export interface NatsMembers {
  members: readonly NatsMember[];
  /** Null where they reach each other without any. */
  proxies: RouteProxies | null;
}

/** Three of them that are one to their clients, all of them at work. */
export async function startNatsMembers(options: {
  scope: Scope;
  folder: string;
  /** Whether they reach each other by wires that can be cut. */
  proxied?: boolean;
}): Promise<NatsMembers> {
  const { scope, folder, proxied = false } = options;
  const ports = await Promise.all(Array.from({ length: clusterSize }, () => freePort()));
  const proxies = proxied ? await startRouteProxies(ports, scope) : null;
  const members = await Promise.all(
    ports.map((port, i) => {
      const name = `nats${i + 1}`;
      const flags = clusterFlags(name, port, proxies?.others[i] ?? without(ports, port));
      // Nor are they to find each other past the wires.
      const advertised = proxies ? ["--cluster_advertise", "127.0.0.1:1"] : [];
      return createNatsMember({ scope, folder, name, flags: [...flags, ...advertised] });
    }),
  );
  await Promise.all(members.map((member) => member.start()));
  await clusterReady(urlOf(members));
  return { members, proxies };
}

export function urlOf(servers: readonly NatsMember[], address = "127.0.0.1"): string {
  return servers.map(({ port }) => `nats://${address}:${port}`).join(",");
}
