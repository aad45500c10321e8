/** Delegations a second from one parent process to so many worker processes, with models that answer at once. */
import { startNatsServer } from "../../harness/nats-server.ts";
import { answeringModel, batch } from "../bench-agents.ts";
import { natsAgents } from "./nats-agents.ts";
import { openNatsHost } from "./nats-host.ts";
import { startWorker } from "./processes.ts";
import { askRoot } from "./root.ts";

const workers = Number(process.argv[2] ?? 1);
const roots = 4;
const childrenPerRoot = 250;

const server = await startNatsServer();
const shared = { url: server.url, namespace: "bench", leaseMs: 8_000 };
const started = await Promise.all(
  Array.from({ length: workers }, (_, i) =>
    startWorker({ ...shared, name: `worker-${i}`, agents: ["worker"], capacity: 64, latencyMs: 0 }),
  ),
);
const models = answeringModel(async ({ step }) => (step === 1 ? { calls: batch(childrenPerRoot) } : {}));
const parent = await openNatsHost({
  ...{ ...shared, name: "parent", agents: ["main"], capacity: 8 },
  ...{ models, registry: natsAgents },
});
await parent.waitForHosts(started.map(({ name }) => name));
await askAll(1);

const startedMs = performance.now();
await askAll(roots);
const seconds = (performance.now() - startedMs) / 1_000;
console.log(JSON.stringify({ workers, perSecond: (roots * childrenPerRoot) / seconds }));
await parent.close();
for (const worker of started) await worker.kill();
await server.stop();

async function askAll(count: number): Promise<void> {
  const responses = await Promise.all(Array.from({ length: count }, () => askRoot(parent.deps)));
  const wrong = responses.find(({ status }) => status !== "completed");
  if (wrong) throw new Error(`a root ended as ${wrong.status}: ${wrong.error?.message}`);
}
