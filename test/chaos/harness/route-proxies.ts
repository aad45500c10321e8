import { startTcpProxy } from "../../harness/tcp-proxy.ts";
import type { Scope } from "./scope.ts";

/** Proxies between the servers of a cluster; clients do not use them. */
export interface RouteProxies {
  /** Where each of them finds the others, in the order in which their ports were given. */
  readonly others: readonly (readonly number[])[];
  /** Nothing that one of them says to the others, or they to it, arrives from now on. */
  cutOff(server: number): void;
  /** They find each other again. */
  restore(): void;
}

/** A wire each way between any two of the servers that listen at these ports for each other. */
export async function startRouteProxies(ports: readonly number[], scope: Scope): Promise<RouteProxies> {
  const proxies = await Promise.all(
    ports.flatMap((_, from) =>
      ports.flatMap((port, to) => (from === to ? [] : [startTcpProxy(port).then((proxy) => ({ from, to, proxy }))])),
    ),
  );
  scope.onTestFinished(async () => {
    await Promise.all(proxies.map(({ proxy }) => proxy.close()));
  });
  return {
    others: ports.map((_, i) => proxies.filter(({ from }) => from === i).map(({ proxy }) => proxy.port)),
    cutOff(server) {
      for (const { from, to, proxy } of proxies)
        if (from === server || to === server) proxy.lose("toServer", "toClient");
    },
    restore() {
      for (const { proxy } of proxies) proxy.cut();
    },
  };
}
