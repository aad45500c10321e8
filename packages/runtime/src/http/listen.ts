import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { TroupeError } from "@troupe/core";

const portsAfter = 20;
const portMax = 65_535;

/** Listens on a port, or on the next free one after it. Returns the one it got. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  if (!Number.isInteger(port) || port < 0 || port > portMax) {
    throw new TroupeError("USAGE", `${port} is no port`, { fix: `use --port with a number from 0 to ${portMax}` });
  }
  const last = port === 0 ? 0 : Math.min(port + portsAfter, portMax);
  for (let candidate = port; candidate <= last; candidate++) {
    const error = await tryPort(server, host, candidate);
    if (error === null) return (server.address() as AddressInfo).port;
    if (error.code !== "EADDRINUSE") {
      throw new TroupeError("USAGE", `cannot listen on ${host}:${candidate}: ${error.code ?? error.message}`, {
        fix: "use --port 0 for any free port",
        cause: error,
      });
    }
  }
  throw new TroupeError("CONFLICT", `the ports ${port} to ${last} of ${host} are all taken`, {
    fix: "use --port 0 for any free port",
  });
}

async function tryPort(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  server.listen(port, host);
  try {
    await once(server, "listening");
    return null;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
