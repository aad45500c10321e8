import { runProcess } from "../program/process.ts";
import { createFakeComposition } from "./fake-composition.ts";

// The command line as a process of its own, over a troupe in memory. A real one is kept alive by its server.
setInterval(() => {}, 60_000);
await runProcess(async () => createFakeComposition());
