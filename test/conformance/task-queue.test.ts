import { createMemoryTaskQueue } from "@troupe/core/memory";
import { describe } from "vitest";
import { taskQueueConformance } from "./task-queue.ts";

describe("the task queue in memory", () => {
  taskQueueConformance(async () => {
    const queue = createMemoryTaskQueue();
    return { queue, [Symbol.asyncDispose]: () => queue.close() };
  });
});
