import { checkStreams, openNatsLink, serverWarnings } from "@troupe/nats";
import { createProjectTrust } from "@troupe/tools";
import { driftWarnings, findConnection, homeFiles, openConfig } from "troupe/internal";
import type { NatsCheckOptions, NatsFacts } from "../troupe.ts";

/** Looks at the server that is configured: whether it lets us in, has JetStream, and its streams are as they should be. */
export async function checkNats({ home, env, cwd }: NatsCheckOptions): Promise<NatsFacts | null> {
  const trust = createProjectTrust({ file: homeFiles(home).trust });
  const { nats } = await (await openConfig({ home, env, cwd, trust })).at(null);
  const connection = findConnection({ flags: {}, nats, env, cwd });
  if (connection.kind !== "server") return null;
  const { server, namespace, settings } = connection;
  const { servers, access, inboxPrefix } = server;
  const prefix = inboxPrefix === undefined ? {} : { inboxPrefix };
  const link = await openNatsLink({ servers, access, name: "troupe-doctor", connectTimeoutMs: 3_000, ...prefix });
  try {
    const { info } = link.connection;
    const streams = await checkStreams({ link, namespace, settings });
    // Before the first start there are none, and that is as it should be.
    const missing = streams.missing.length === 3 ? [] : streams.missing;
    return {
      server: link.redactedUrl,
      version: info?.version ?? "unknown",
      namespace,
      warnings: [...(info ? serverWarnings(info) : []), ...driftWarnings({ ...streams, missing })],
    };
  } finally {
    await link.close();
  }
}
