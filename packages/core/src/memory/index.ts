/** In-memory adapters: the embedded bus and queue, and adapters for unit tests. */
export { createMemoryBlobs } from "./blobs.ts";
export { createMemoryBus } from "./bus.ts";
export {
  createCountingIds,
  createSimulatedClock,
  createTwoClocks,
  type SimulatedClock,
  type TwoClocks,
} from "./clock.ts";
export { createMemoryJournal } from "./journal.ts";
export { createMemoryTaskQueue } from "./task-queue.ts";
