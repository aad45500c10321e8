import { checkStreams, type NatsLink, openNatsLink, serverWarnings } from "@troupe/nats";
import { createProjectTrust } from "@troupe/tools";
import {
  type Connection,
  findConnection,
  type Home,
  homeFiles,
  type NatsFlags,
  openConfig,
  streamWarnings,
} from "troupe/internal";

export interface NatsCheckOptions {
  home: Home;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/** Facts about a NATS server. */
export interface NatsFacts {
  /** Server URL without credentials. */
  server: string;
  version: string;
  namespace: string;
  warnings: string[];
}

/** The connection that flags, variables and the user's configuration name. */
export async function findServer({
  home,
  nats: flags = {},
  env,
  cwd,
}: NatsCheckOptions & { nats?: NatsFlags }): Promise<Connection> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const { nats } = await (await openConfig({ home, env, cwd, trust })).at(null);
  return await findConnection({ flags, nats, env, cwd });
}

/** A connection to a server, as far as a command needs it. */
export type ServerConnection = Extract<Connection, { kind: "server" }>;

/** @param name shown in the server's list of connections */
export function openServerLink(
  { server }: ServerConnection,
  name: string,
  connectTimeoutMs?: number,
): Promise<NatsLink> {
  const { servers, access, inboxPrefix } = server;
  return openNatsLink({
    ...{ servers, access, name },
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
  });
}

/** Checks the configured server and changes nothing. Null if no server is configured. */
export async function checkNats(options: NatsCheckOptions): Promise<NatsFacts | null> {
  const connection = await findServer(options);
  if (connection.kind !== "server") return null;
  const { namespace, settings } = connection;
  const link = await openServerLink(connection, "troupe-doctor", 3_000);
  try {
    const { info } = link.connection;
    const streams = await checkStreams({ link, namespace, settings });
    // Without any stream the namespace is new: the first start creates all three.
    const missing = streams.missing.length === 3 ? [] : streams.missing;
    return {
      server: link.redactedUrl,
      version: info?.version ?? "unknown",
      namespace,
      warnings: [...(info ? serverWarnings(info) : []), ...streamWarnings({ ...streams, missing })],
    };
  } finally {
    await link.close();
  }
}
