import { once } from "node:events";
import { createServer } from "node:net";

/** A port that was free a moment ago, for a server that must restart on the same port. */
export async function freePort(host = "127.0.0.1"): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
