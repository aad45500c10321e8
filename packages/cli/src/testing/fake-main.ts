import { runProcess } from "../process.ts";
import { createFakeComposition } from "./fake-composition.ts";

// The command line as a process of its own, over a troupe in memory.
await runProcess(async () => createFakeComposition());
