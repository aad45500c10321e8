import { createMemoryTaskQueue } from "@troupe/core/memory";
import { systemClock } from "@troupe/core/system";
import { describe } from "vitest";
import { findNatsServer, natsServerMissing, startNatsServer } from "../harness/nats-server.ts";
import { taskQueueConformance } from "./task-queue.ts";
import { openTaskQueue } from "./task-queue-nats.ts";

describe("the task queue in memory", () => {
  taskQueueConformance(async () => {
    const queue = createMemoryTaskQueue({ clock: systemClock() });
    return { queue, [Symbol.asyncDispose]: () => queue.close() };
  });
});

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "the task queue over NATS" : natsServerMissing, () => {
  taskQueueConformance(async () => {
    const server = await startNatsServer();
    const { queue, ...rest } = await openTaskQueue(server.url);
    return {
      queue,
      async [Symbol.asyncDispose]() {
        await rest[Symbol.asyncDispose]();
        await server.stop();
      },
    };
  });
});
