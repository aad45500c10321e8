import { startTcpProxy } from "../../harness/tcp-proxy.ts";
import type { Scope } from "./scope.ts";

/** What the servers of a cluster reach each other by, and clients do not. */
export interface RouteWires {
  /** Where each of them finds the others, in the order in which their ports were given. */
  readonly others: readonly (readonly number[])[];
  /** Nothing that one of them says to the others, or they to it, arrives from now on. */
  cutOff(server: number): void;
  /** They find each other again. */
  mend(): void;
}

/** A wire each way between any two of the servers that listen at these ports for each other. */
export async function layRouteWires(ports: readonly number[], scope: Scope): Promise<RouteWires> {
  const wires = await Promise.all(
    ports.flatMap((_, from) =>
      ports.flatMap((port, to) => (from === to ? [] : [startTcpProxy(port).then((proxy) => ({ from, to, proxy }))])),
    ),
  );
  scope.onTestFinished(async () => {
    await Promise.all(wires.map(({ proxy }) => proxy.close()));
  });
  return {
    others: ports.map((_, i) => wires.filter(({ from }) => from === i).map(({ proxy }) => proxy.port)),
    cutOff(server) {
      for (const { from, to, proxy } of wires) if (from === server || to === server) proxy.lose("toServer", "toClient");
    },
    mend() {
      for (const { proxy } of wires) proxy.cut();
    },
  };
}
