import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a client and a server, and lets a test be the network. */
export interface TcpProxy {
  port: number;
  /**
   * From now on what the server says to those who are connected is lost; what they say still arrives.
   *
   * @param containing only what has these words in it
   */
  loseReplies(containing?: string): void;
  /** Ends all connections, as a fault would. Later ones are passed on whole. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(serverPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let lost: string | null = null;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const proxy = createServer((client) => {
    const server = connect(serverPort, "127.0.0.1");
    keep(client, server);
    keep(server, client);
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      if (lost === null || !bytes.includes(lost)) client.write(bytes);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    lost = null;
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    loseReplies(containing = "") {
      lost = containing;
    },
    cut,
    async stop() {
      cut();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
