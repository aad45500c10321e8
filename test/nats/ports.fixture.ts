import { silentLogger } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { type NatsLink, type NatsPorts, type OpenNatsPortsOptions, openNatsLink, openNatsPorts } from "@troupe/nats";
import { type NatsCluster, startNatsCluster } from "../harness/nats-cluster.ts";
import { findNatsServer, type NatsServer, startNatsServer } from "../harness/nats-server.ts";
import { useShared } from "../harness/shared-fixture.ts";

/** The ports of one process. */
export interface PortsUnderTest extends NatsPorts {
  link: NatsLink;
  namespace: string;
  dispose(): Promise<void>;
}

export interface Shared {
  freshNamespace(): string;
  /** @default a new namespace */
  open(options?: Partial<OpenNatsPortsOptions> & { url?: string }): Promise<PortsUnderTest>;
}

export interface SharedNats extends Shared {
  server: NatsServer;
}

export interface SharedCluster extends Shared {
  cluster: NatsCluster;
}

/** One server for all tests of a file. */
export function useNats(): () => SharedNats {
  return useShared(async (test) => {
    // A skipped test file starts no server.
    if (findNatsServer() === null) return {} as SharedNats;
    const server = await startNatsServer();
    test.onTestFinished(() => server.stop());
    return { server, ...sharedAt(server.url) };
  });
}

/** One cluster of three for all tests of a file. */
export function useCluster(): () => SharedCluster {
  return useShared(async (test) => {
    if (findNatsServer() === null) return {} as SharedCluster;
    const cluster = await startNatsCluster();
    test.onTestFinished(() => cluster.stop());
    return { cluster, ...sharedAt(cluster.url) };
  });
}

function sharedAt(urlOfAll: string): Shared {
  let namespaces = 0;
  const freshNamespace = (): string => `ns${++namespaces}`;
  return {
    freshNamespace,
    open: ({ url = urlOfAll, namespace = freshNamespace(), ...options } = {}) =>
      openPorts(url, { namespace, ...options }),
  };
}

async function openPorts(
  url: string,
  options: Partial<OpenNatsPortsOptions> & { namespace: string },
): Promise<PortsUnderTest> {
  const link = await openNatsLink({ servers: url, reconnectDelayMs: 20 });
  const ports = await openNatsPorts({ link, clock: systemClock(), logger: silentLogger, ...options });
  return {
    ...ports,
    link,
    namespace: options.namespace,
    async dispose() {
      await ports.close();
      await link.close();
    },
  };
}
