/** One parent, one batch, many children at once: how much longer it takes than one child would. */

import { systemClock } from "@troupe/core/system";
import { createScriptedProvider, Scenario } from "@troupe/models";
import { addedByLivesMs } from "./bare-actors.ts";
import { batch } from "./bench-agents.ts";
import { openBenchHome } from "./bench-home.ts";

const children = Number(process.argv[2] ?? 1_000);
const latencyMs = 2_000;
const text = "Found the requested text; nothing unexpected.";

/** The parent thinks twice, each child once; words are streamed, as they would be by any provider. */
const scenario = Scenario.parse({
  name: "model",
  description: "One parent, many children.",
  agents: {
    main: [
      { when: { task: "warm up" }, steps: [{ calls: callsOf(50) }, { text }] },
      {
        steps: [
          { latencyMs, calls: callsOf(children) },
          { latencyMs, text },
        ],
      },
    ],
    worker: [{ when: { task: "warm up" }, steps: [{ text }] }, { steps: [{ latencyMs, text }] }],
  },
});
const idealMs = 3 * latencyMs;

const models = createScriptedProvider({ load: async () => scenario, clock: systemClock() });
const home = await openBenchHome({ models, capacity: children + 1 });
await home.ask("warm up", 50);
await addedByLivesMs(children, 10);
const floorMs = await addedByLivesMs(children, latencyMs);
await home.recorder.caughtUp();

const before = process.cpuUsage();
const startedMs = performance.now();
const { status, metrics } = await home.ask("measure", children);
const wallMs = performance.now() - startedMs;
await home.recorder.caughtUp();
const recordBehindMs = performance.now() - startedMs - wallMs;
const { user, system } = process.cpuUsage(before);
await home.close();
if (status !== "completed" || metrics.charged.spawns !== children) throw new Error(`the tree ended ${status}`);

console.log(
  JSON.stringify({
    children,
    ratio: wallMs / idealMs,
    addedMsPerChild: (wallMs - idealMs) / children,
    floorAddedMsPerLife: floorMs / children,
    cpuMsPerRun: (user + system) / 1_000 / (children + 1),
    recordBehindMs,
  }),
);

function callsOf(count: number): { tool: string; args: unknown }[] {
  return batch(count).map(({ name, args }) => ({ tool: name, args }));
}
