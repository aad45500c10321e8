/** CPU per sub-agent run: real journal, real recorder, real queue and bus, a model that answers at once. */

import { answeringModel, delegations } from "./bench-agents.ts";
import { openBenchHome } from "./bench-home.ts";

const childrenPerRoot = 50;
const roots = Number(process.argv[2] ?? 80);

const models = answeringModel(async ({ agent, step }) =>
  agent === "main" && step === 1 ? { calls: delegations(childrenPerRoot) } : {},
);
const home = await openBenchHome({ models, capacity: 64 });
for (let i = 0; i < 10; i += 1) await home.ask("warm up", childrenPerRoot);
await home.recorder.caughtUp();

const before = process.cpuUsage();
const startedMs = performance.now();
for (let i = 0; i < roots; i += 1) await home.ask("measure", childrenPerRoot);
await home.recorder.caughtUp();
const wallMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(before);
const runs = roots * (childrenPerRoot + 1);

await home.close();
console.log(JSON.stringify({ runs, cpuMsPerRun: (user + system) / 1_000 / runs, wallMsPerRun: wallMs / runs }));
