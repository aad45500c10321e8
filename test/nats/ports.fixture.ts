import {
  type NatsLink,
  type NatsPorts,
  type OpenNatsPortsOptions,
  openNatsLink,
  openNatsPorts,
  silentLogger,
  systemClock,
} from "@troupe/runtime";
import { findNatsServer, type NatsServer, startNatsServer } from "../harness/nats-server.ts";
import { useOne } from "../harness/shared.ts";

/** One process's end of a troupe's ports. */
export interface PortsUnderTest extends NatsPorts {
  link: NatsLink;
  namespace: string;
  dispose(): Promise<void>;
}

export interface SharedNats {
  server: NatsServer;
  freshNamespace(): string;
  /** @default a namespace that nobody else has */
  open(options?: Partial<OpenNatsPortsOptions> & { url?: string }): Promise<PortsUnderTest>;
}

/** One server for all tests of a file. */
export function useNats(): () => SharedNats {
  let namespaces = 0;
  return useOne(async (test) => {
    // A file that is skipped starts nothing.
    if (findNatsServer() === null) return {} as SharedNats;
    const server = await startNatsServer();
    test.onTestFinished(() => server.stop());
    const freshNamespace = (): string => `ns${++namespaces}`;
    return {
      server,
      freshNamespace,
      open: ({ url = server.url, namespace = freshNamespace(), ...options } = {}) =>
        openPorts(url, { namespace, ...options }),
    };
  });
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
