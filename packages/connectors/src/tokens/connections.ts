import type { Secret } from "@troupe/core";
import { z } from "zod";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import { LineText } from "../ports/person.ts";
import { type ConnectionFile, type ConnectionFileOptions, openConnectionFile } from "./connection-file.ts";

export const connectionKinds = ["google", "slack", "standard"] as const;
/** The kinds of services that a user can connect. */
export const ConnectionKind = z.enum(connectionKinds);
export type ConnectionKind = z.infer<typeof ConnectionKind>;

/** The ports that a connection serves: the names of `Connectors`. */
export const ConnectionDomain = z.enum(["mail", "calendar", "contacts", "channels"]);
export type ConnectionDomain = z.infer<typeof ConnectionDomain>;

/** A connected account, without its secrets. */
export const StoredConnection = z.strictObject({
  /** `google/ana@acme.example`: the kind and the name that the user chose, or the account. */
  id: LineText.min(1).max(300),
  kind: ConnectionKind,
  /** The mail address of the account, or the id of a workspace's member. */
  account: LineText.min(1).max(254),
  domains: z.array(ConnectionDomain).min(1),
  createdAt: z.iso.datetime(),
  /** Values that everybody may read, such as the address of a server or the end of a token's validity. */
  settings: z.record(z.string(), z.string()).default({}),
});
export type StoredConnection = z.infer<typeof StoredConnection>;

/** The secret values of a connection by name, such as `refreshToken` or `password`. */
export const ConnectionSecrets = z.record(z.string(), z.string());
export type ConnectionSecrets = z.infer<typeof ConnectionSecrets>;

/** A connection with its secrets. Never write it to a log, a journal or an error. */
export interface OpenedConnection {
  connection: StoredConnection;
  secrets: ConnectionSecrets;
}

/** The connected accounts of one home. Several processes can use it. */
export interface ConnectionStore {
  /** In the order of their ids. Empty if nothing was ever connected. */
  list(): Promise<StoredConnection[]>;
  get(id: string): Promise<OpenedConnection | null>;
  /** Stores a connection. One with the same id is replaced. */
  put(connection: z.input<typeof StoredConnection>, secrets: ConnectionSecrets): Promise<void>;
  /**
   * Changes one connection while no other process can change any: the new tokens of a refresh replace the old ones, which
   * the service may accept only once. If `change` throws, everything stays. Throws `auth` if the connection was removed.
   */
  change(id: string, change: (opened: OpenedConnection) => Promise<OpenedConnection>): Promise<OpenedConnection>;
  /** False if no connection has this id. */
  remove(id: string): Promise<boolean>;
  /** All secret values, for `createRedactor`. Ask again after a change: a refresh makes new tokens. */
  secrets(): Promise<Secret[]>;
}

/**
 * Opens the connections of a home: one file that only this user can read. Nothing is created before the first `put`.
 *
 * @param folder the home
 * @example
 * const store = openConnectionStore("/home/ana/.local/share/troupe");
 * for (const { id, account } of await store.list()) console.log(id, account);
 */
export function openConnectionStore(folder: string, options: ConnectionFileOptions = {}): ConnectionStore {
  const file = openConnectionFile(folder, options);
  return {
    list: async () => file.read((rows) => rows.all().map(({ connection }) => readConnection(connection))),
    get: async (id) => file.read((rows) => opened(rows.get(id))),
    async put(connection, secrets) {
      const row = rowOf({
        connection: parseParams(StoredConnection, connection),
        secrets: parseParams(ConnectionSecrets, secrets),
      });
      await file.write(async (rows) => rows.put(row));
    },
    change: (id, change) => changeOne(file, id, change),
    remove: (id) => file.write(async (rows) => rows.remove(id)),
    secrets: async () =>
      file.read((rows) =>
        rows
          .all()
          .flatMap(({ id, secrets }) =>
            Object.entries(readSecrets(secrets)).map(([name, value]) => ({ name: `${id} ${name}`, value })),
          ),
      ),
  };
}

/** One connection as the file stores it: two JSON texts. */
export interface ConnectionRow {
  id: string;
  connection: string;
  secrets: string;
}

async function changeOne(
  file: ConnectionFile,
  id: string,
  change: (opened: OpenedConnection) => Promise<OpenedConnection>,
): Promise<OpenedConnection> {
  return await file.write(async (rows) => {
    const before = opened(rows.get(id));
    if (before === null) {
      throw new ConnectorError("auth", `the connection ${JSON.stringify(id)} was removed`, { fix: "connect it again" });
    }
    const after = await change(before);
    rows.put(rowOf(after));
    return after;
  });
}

function opened(row: ConnectionRow | undefined): OpenedConnection | null {
  return row ? { connection: readConnection(row.connection), secrets: readSecrets(row.secrets) } : null;
}

function rowOf({ connection, secrets }: OpenedConnection): ConnectionRow {
  return { id: connection.id, connection: JSON.stringify(connection), secrets: JSON.stringify(secrets) };
}

/** Fields of later versions are left out. */
const readConnection = (text: string): StoredConnection => StoredConnection.strip().parse(JSON.parse(text));
const readSecrets = (text: string): ConnectionSecrets => ConnectionSecrets.parse(JSON.parse(text));
