import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Scope } from "./scope.ts";

/** The faults of a link while they are set. */
export interface LinkFaults {
  /** Each way. */
  delayMs: number;
  /** Nothing is read from the server any more, as by a client that is stuck. */
  stalled: boolean;
  /** Drops all bytes from the server; bytes to the server arrive. */
  dropsToClient: boolean;
  /** Drops all bytes from the client; bytes to the client arrive. */
  dropsToServer: boolean;
  /** After so many bytes from either side a connection is cut, in the middle of whatever is being said. */
  cutAfterBytes: number | null;
}

export const noFaults: LinkFaults = {
  delayMs: 0,
  stalled: false,
  dropsToClient: false,
  dropsToServer: false,
  cutAfterBytes: null,
};

export interface ChaosProxy {
  readonly port: number;
  set(faults: Partial<LinkFaults>): void;
  /** Cuts every connection at once. */
  cut(): void;
  /** Connections opened so far, and connections that were cut. */
  counts(): { opened: number; cut: number };
}

interface Pair {
  client: Socket;
  server: Socket;
  passedBytes: number;
}

/** A TCP proxy on this machine in front of a server, with weather of its own. */
export async function startChaosProxy(options: {
  scope: Scope;
  to: { host: string; port: number };
  /** Bytes after which a connection is cut, where cutting is asked for: so much to so much. */
  random?: () => number;
}): Promise<ChaosProxy> {
  const { scope, to, random = Math.random } = options;
  let faults = noFaults;
  const pairs = new Set<Pair>();
  const counts = { opened: 0, cut: 0 };

  const end = (pair: Pair, wasCut: boolean): void => {
    if (!pairs.delete(pair)) return;
    if (wasCut) counts.cut += 1;
    // A reset and not an end: that is how it looks when a box in between forgets a connection.
    pair.client.resetAndDestroy();
    pair.server.resetAndDestroy();
  };

  const forward = (pair: Pair, from: Socket, into: Socket, isLost: () => boolean): void => {
    from.on("data", (bytes) => {
      if (isLost()) return;
      const limit = faults.cutAfterBytes;
      const bytesLeft = limit === null ? bytes.byteLength : limit * (0.5 + random()) - pair.passedBytes;
      const fits = bytes.subarray(0, Math.max(0, Math.floor(bytesLeft)));
      pair.passedBytes += bytes.byteLength;
      const send = (): void => {
        const isCut = fits.byteLength < bytes.byteLength;
        if (into.writable) into.write(fits, () => isCut && end(pair, true));
        else if (isCut) end(pair, true);
      };
      if (faults.delayMs > 0) setTimeout(send, faults.delayMs);
      else send();
    });
    from.on("error", () => end(pair, false));
    from.on("close", () => end(pair, false));
  };

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ ...to, noDelay: true });
    const pair: Pair = { client, server, passedBytes: 0 };
    pairs.add(pair);
    counts.opened += 1;
    forward(pair, client, server, () => faults.dropsToServer);
    forward(pair, server, client, () => faults.dropsToClient);
    if (faults.stalled) server.pause();
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");

  scope.onTestFinished(async () => {
    for (const pair of [...pairs]) end(pair, false);
    listener.close();
    await once(listener, "close");
  });
  return {
    port: address.port,
    set(change) {
      faults = { ...faults, ...change };
      for (const { server } of pairs) {
        if (faults.stalled) server.pause();
        else server.resume();
      }
    },
    cut() {
      for (const pair of [...pairs]) end(pair, true);
    },
    counts: () => ({ ...counts }),
  };
}
