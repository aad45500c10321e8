import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Secret } from "@troupe/core";
import type { NatsAccess, StreamSettings } from "@troupe/nats";
import type { Origin } from "../config/origin.ts";

/** What the flags of a command say about the others. */
export interface NatsFlags {
  /** An address, or `auto` for a server of one's own. */
  nats?: string | undefined;
  /** A context of the NATS command line; true for the one that is selected there. */
  context?: string | true | undefined;
  namespace?: string | undefined;
  locality?: string | undefined;
  leaseMs?: number | undefined;
}

/** Whether a server is named at all. */
export function namesServer({ nats, context }: NatsFlags): boolean {
  return nats !== undefined || context !== undefined;
}

/** What holds among all who share a server, whichever it is. */
export interface SharedSettings {
  namespace: string;
  settings: StreamSettings;
  leaseMs: number;
  /** Days that a settled session stays on the server; 0: for ever; null: nobody has said. */
  keepDays: number | null;
  /** The disk that workspaces of this machine are on. */
  locality: string;
}

/** A server, and how to be let in there. */
export interface NatsServerAccess {
  /** May hold credentials. */
  servers: string;
  access: NatsAccess;
  inboxPrefix?: string;
  secrets: Secret[];
  /** Who has named it. */
  origin: Origin;
}

/** How this process is connected with others. */
export type Connection =
  | { kind: "embedded" }
  /** A server that this process starts, and owns. */
  | ({ kind: "auto" } & SharedSettings)
  | ({ kind: "server"; server: NatsServerAccess } & SharedSettings);

/** Those of a connection that must never be written. */
export function secretsOfConnection(connection: Connection): Secret[] {
  return connection.kind === "server" ? connection.server.secrets : [];
}

/** Days that a settled session stays where nobody says otherwise. */
export const keepDaysDefault = 7;

/**
 * What the disk of this machine is called, so that a daemon and the workers beside it find out that they share it.
 * Containers of one machine may have its id: their names tell them apart.
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
      // Not every system has one; its name has to do there.
    }
  }
  return "";
}
