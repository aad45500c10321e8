import { createMemoryBus } from "@troupe/core/memory";
import { createNatsBus } from "@troupe/nats";
import { afterAll, beforeAll, describe } from "vitest";
import { findNatsServer, type NatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { describeBus } from "./bus.ts";

// Embedded and NATS mode share all code above the Bus, so both adapters must pass the same suite.

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
