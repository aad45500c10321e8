import { createMemoryBus } from "@troupe/core/memory";
import { createNatsBus } from "@troupe/nats";
import { afterAll, beforeAll, describe } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { describeBus } from "./bus.ts";

// Both modes of troupe are the same code above the Bus: what holds for one adapter must hold for the other.

describeBus("the in-process bus", {
  async create(options) {
    const bus = createMemoryBus(options);
    return { near: bus, far: bus };
  },
});

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "on a real server" : natsServerMissing, () => {
  let server: NatsServer;
  beforeAll(async () => {
    server = await startNatsServer();
  });
  afterAll(() => server?.stop());

  describeBus("the NATS bus", {
    async create(options) {
      const connect = () => createNatsBus({ servers: server.url, ...options });
      const [near, far] = await Promise.all([connect(), connect()]);
      return { near, far };
    },
  });
});
