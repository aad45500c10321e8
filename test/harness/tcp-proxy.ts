import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export type Direction = "toServer" | "toClient";

/** A wire between clients and a server on this machine that a test can hold up or cut. */
export interface TcpProxy {
  readonly port: number;
  /** Holds all bytes in these directions until `release`, as a partition that heals. */
  hold(...directions: Direction[]): void;
  /** Drops all bytes in these directions from now on. */
  lose(...directions: Direction[]): void;
  /** Drops chunks to clients that contain this text. */
  loseReplies(containing: string): void;
  /** Clients hear other words instead of these: where bytes are counted, as many. */
  replace(words: string, others: string): void;
  /** Lets all bytes through again, the held ones first. */
  release(): void;
  /** Cuts every connection, as a reset does. New ones can be made, and lose nothing. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(serverPort: number): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket }>();
  const held = new Set<Direction>();
  const lost = new Set<Direction>();
  let lostWords: string | null = null;
  let replaced: readonly [string, string] | null = null;
  const replaceBytes = (bytes: Buffer, direction: Direction): Buffer => {
    if (replaced === null || direction !== "toClient") return bytes;
    return Buffer.from(bytes.toString("latin1").replaceAll(...replaced), "latin1");
  };
  const isLost = (direction: Direction, bytes: Buffer): boolean =>
    lost.has(direction) || (direction === "toClient" && lostWords !== null && bytes.includes(lostWords));
  const apply = ({ client, server }: { client: Socket; server: Socket }): void => {
    for (const [source, direction] of [
      [client, "toServer"],
      [server, "toClient"],
    ] as const) {
      if (held.has(direction)) source.pause();
      else source.resume();
    }
  };
  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ host: "127.0.0.1", port: serverPort, noDelay: true });
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      if (!pairs.delete(pair)) return;
      client.resetAndDestroy();
      server.resetAndDestroy();
    };
    for (const [source, sink, direction] of [
      [client, server, "toServer"],
      [server, client, "toClient"],
    ] as const) {
      source.on("data", (bytes: Buffer) => isLost(direction, bytes) || sink.write(replaceBytes(bytes, direction)));
      source.on("error", end);
      source.on("close", end);
    }
    apply(pair);
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = (): void => {
    for (const { client } of [...pairs]) client.destroy();
    lost.clear();
    lostWords = null;
  };
  return {
    port: address.port,
    hold(...directions) {
      for (const direction of directions) held.add(direction);
      for (const pair of pairs) apply(pair);
    },
    lose(...directions) {
      for (const direction of directions) lost.add(direction);
    },
    loseReplies(containing) {
      lostWords = containing;
    },
    replace(words, others) {
      replaced = [words, others];
    },
    release() {
      held.clear();
      lost.clear();
      lostWords = null;
      for (const pair of pairs) apply(pair);
    },
    cut,
    async close() {
      cut();
      listener.close();
      await once(listener, "close");
    },
  };
}
