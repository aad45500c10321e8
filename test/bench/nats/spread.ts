/**
 * Offers 320 tasks of one of fifty agents at once to eight workers with four slots each, 200 ms a call. Also measures
 * the CPU time of the idle workers. All workers are warmed up first, as long-lived hosts are.
 */
import { setTimeout as delay } from "node:timers/promises";
import { startNatsServer } from "../../harness/nats-server.ts";
import { answeringModel, batch } from "../bench-agents.ts";
import { natsAgents, otherAgents } from "./nats-agents.ts";
import { openNatsHost } from "./nats-host.ts";
import { startWorker } from "./processes.ts";
import { askRoot } from "./root.ts";

const [tasks, workers, slots, latencyMs, idleMs] = [320, 8, 4, 200, 10_000];
const idealMs = (tasks / (workers * slots)) * latencyMs;

const server = await startNatsServer();
const shared = { url: server.url, namespace: "bench", leaseMs: 8_000 };
const agents = ["worker", ...otherAgents.slice(1)];
const started = await Promise.all(
  Array.from({ length: workers }, (_, i) =>
    startWorker({ ...shared, name: `worker-${i}`, agents, capacity: slots, latencyMs }),
  ),
);
/** From the reply that asks for them to the parent's next call, which has all the answers. */
let answeredAtMs = 0;
let askedAtMs = 0;
const models = answeringModel(async ({ step }) => {
  if (step === 1) {
    askedAtMs = performance.now();
    return { calls: batch(tasks) };
  }
  answeredAtMs = performance.now();
  return {};
});
const parent = await openNatsHost({
  ...{ ...shared, name: "parent", agents: ["main"], capacity: 4 },
  ...{ models, registry: natsAgents },
});
await parent.waitForHosts(started.map(({ name }) => name));
for (const _ of ["to warm up", "to be measured"]) {
  const { status } = await askRoot(parent.deps);
  if (status !== "completed") throw new Error(`the root ended as ${status}`);
}
const wallMs = answeredAtMs - askedAtMs;

await delay(2_000);
const before = await Promise.all(started.map((worker) => worker.cpuMs()));
await delay(idleMs);
const after = await Promise.all(started.map((worker) => worker.cpuMs()));
const idlePercent = after.map((cpuMs, i) => ((cpuMs - (before[i] ?? 0)) / idleMs) * 100);
console.log(JSON.stringify({ wallMs, ratio: wallMs / idealMs, idlePercentMax: Math.max(...idlePercent) }));
await parent.close();
for (const worker of started) await worker.kill();
await server.stop();
