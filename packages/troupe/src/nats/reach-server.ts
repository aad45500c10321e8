import type { Logger } from "@troupe/core";
import type { Home } from "../home/home.ts";
import type { Connection } from "./connection.ts";
import { type OwnServer, startOwnServer } from "./own-server.ts";

/** Starts the server that is to be one's own, and leaves any other as it is. */
export async function reach(
  connection: Connection,
  options: { home: Home; env: NodeJS.ProcessEnv; logger: Logger },
  undo: (() => unknown)[],
): Promise<{ connection: Exclude<Connection, { kind: "auto" }>; own: OwnServer | null }> {
  if (connection.kind !== "auto") return { connection, own: null };
  const { access, stop, url, contextFile } = await startOwnServer(options);
  undo.push(stop);
  return { connection: { ...connection, kind: "server", server: access }, own: { url, contextFile } };
}
