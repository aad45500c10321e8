/** A worker is killed in the midst of a model call: how long until another one makes the call again. */
import { startNatsServer } from "../../harness/nats-server.ts";
import { answeringModel } from "../bench-agents.ts";
import { natsAgents } from "./nats-agents.ts";
import { openNatsHost } from "./nats-host.ts";
import { startWorker } from "./processes.ts";
import { askRoot, delegateTo } from "./root.ts";

const leaseMs = Number(process.argv[2] ?? 2_000);

const server = await startNatsServer();
const shared = { url: server.url, namespace: "bench", leaseMs };
const hanging = { ...shared, agents: ["worker"], capacity: 4, latencyMs: "hang" as const };
const models = answeringModel(async ({ step }) => (step === 1 ? { calls: delegateTo("worker", step) } : {}));
const first = await startWorker({ ...hanging, name: "first" });
const parent = await openNatsHost({
  ...{ ...shared, name: "parent", agents: ["main"], capacity: 4 },
  ...{ models, registry: natsAgents },
});
await parent.waitForHosts(["first"]);
const called = first.next("called");
void askRoot(parent.deps);
await called;
const second = await startWorker({ ...hanging, name: "second" });
await parent.waitForHosts(["second"]);

const again = second.next("called");
const killedAtMs = Date.now();
await first.kill();
const tookMs = (await again).atMs - killedAtMs;
console.log(JSON.stringify({ leaseMs, tookMs, leases: tookMs / leaseMs }));
await second.kill();
await parent.close();
await server.stop();
process.exit();
