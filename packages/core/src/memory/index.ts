/** In-memory adapters: the embedded bus and queue, and stand-ins for unit tests. */
export { createMemoryBlobs } from "./blobs.ts";
export { createMemoryBus } from "./bus.ts";
export { createCountingIds, createSimulatedClock, type SimulatedClock } from "./clock.ts";
export { createMemoryJournal } from "./journal.ts";
export { createMemoryTaskQueue } from "./task-queue.ts";
export { createTwoClocks, type TwoClocks } from "./two-clocks.ts";
