import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Secret } from "@troupe/core";
import type { NatsAccess, StreamSettings } from "@troupe/nats";
import type { Origin } from "../config/origin.ts";

/** NATS flags of a command. */
export interface NatsFlags {
  /** An address, or `auto` to start a server for this home. */
  nats?: string | undefined;
  /** Name of a context of the NATS command line; true for the selected one. */
  context?: string | true | undefined;
  namespace?: string | undefined;
  locality?: string | undefined;
  leaseMs?: number | undefined;
}

/** True if the flags name a server. */
export function namesServer({ nats, context }: NatsFlags): boolean {
  return nats !== undefined || context !== undefined;
}

/** Settings that all processes on one server share. */
export interface SharedSettings {
  namespace: string;
  settings: StreamSettings;
  leaseMs: number;
  /** Days that a settled session stays on the server; 0 keeps it forever; null means not configured. */
  keepDays: number | null;
  /** Name of the disk that holds this machine's workspaces. */
  locality: string;
}

/** A server with the credentials for it. */
export interface NatsServerAccess {
  /** Can contain credentials. */
  servers: string;
  access: NatsAccess;
  inboxPrefix?: string;
  secrets: Secret[];
  /** The flag, variable or file that names the server. */
  origin: Origin;
}

/** The connection of this process to other hosts. `embedded`: none. */
export type Connection =
  | { kind: "embedded" }
  /** A server that this process starts and stops. */
  | ({ kind: "auto" } & SharedSettings)
  | ({ kind: "server"; server: NatsServerAccess } & SharedSettings);

/** Secrets of a connection, for redaction. */
export function secretsOfConnection(connection: Connection): Secret[] {
  return connection.kind === "server" ? connection.server.secrets : [];
}

/** Default of `keepDays`. */
export const keepDaysDefault = 7;

/**
 * Default name of this machine's disk, so that a daemon and workers on one machine find out that they share it. The host
 * name is part of it, because containers can have the machine id of their host.
 */
export function defaultLocality(): string {
  const hash = createHash("sha256").update(`${machineId()}\n${hostname()}`).digest("hex");
  return `m${hash.slice(0, 12)}`;
}

function machineId(): string {
  for (const file of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      return readFileSync(file, "utf8").trim();
    } catch {
      // Some systems have no machine id. Then only the host name counts.
    }
  }
  return "";
}
