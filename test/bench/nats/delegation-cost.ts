/**
 * One delegation at a time from a parent in this process to a child in another, with models that answer at once: from
 * its offer to the parent's next model call, which knows the answer; and from the reply that asks for it. Beside it the
 * plain round trip of the same client between two processes.
 */
import { once } from "node:events";
import { createNatsBus } from "@troupe/nats";
import { startNatsServer } from "../../harness/nats-server.ts";
import { answeringModel } from "../bench-agents.ts";
import { natsAgents } from "./nats-agents.ts";
import { openNatsHost } from "./nats-host.ts";
import { forkScript, kill, startWorker } from "./processes.ts";
import { askRoot, delegateTo } from "./root.ts";
import { serverFlags } from "./server-flags.ts";

const flags = await serverFlags(process.argv[2]);
/** Few enough that the parent's conversation stays short and cheap. */
const delegationsPerRoot = 10;
/** Hosts are long-lived, so the benchmark measures warm code. */
const warmUpRoots = 100;
const roots = 60;

const server = await startNatsServer({ flags: flags.args });
const shared = { url: server.url, namespace: "bench", capacity: 8, leaseMs: 8_000 };
const worker = await startWorker({ ...shared, name: "child", agents: ["worker"], latencyMs: 0 });

let askedAtMs = 0;
let offeredAtMs = 0;
let fromReplyMs: number[] = [];
let fromOfferMs: number[] = [];
const models = answeringModel(async ({ step }) => {
  if (step > 1) {
    fromReplyMs.push(performance.now() - askedAtMs);
    fromOfferMs.push(performance.now() - offeredAtMs);
  }
  if (step > delegationsPerRoot) return {};
  const reply = { calls: delegateTo("worker", step) };
  askedAtMs = performance.now();
  return reply;
});
const parent = await openNatsHost({ ...shared, name: "parent", agents: ["main"], models, registry: natsAgents });
const { queue } = parent.ports;
const offer = queue.offer.bind(queue);
queue.offer = (task) => {
  offeredAtMs = performance.now();
  return offer(task);
};
await parent.waitForHosts(["child"]);

const firstMs = await roundTripsMs(1_000);
await askRoots(warmUpRoots);
[fromReplyMs, fromOfferMs] = [[], []];
await askRoots(roots);
const againMs = await roundTripsMs(1_000);

const roundTripMs = (median(firstMs) + median(againMs)) / 2;
const delegationMs = median(fromOfferMs);
console.log(
  JSON.stringify({
    ...{ sync: flags.applied, roundTripMs, delegationMs, ratio: delegationMs / roundTripMs },
    delegationP99Ms: percentile(fromOfferMs, 0.99),
    fromReplyMs: median(fromReplyMs),
  }),
);
await parent.close();
await worker.kill();
await server.stop();

async function askRoots(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const { status } = await askRoot(parent.deps);
    if (status !== "completed") throw new Error(`a root ended as ${status}`);
  }
}

async function roundTripsMs(count: number): Promise<number[]> {
  const echo = forkScript("echo.ts", server.url);
  await once(echo, "message");
  const bus = await createNatsBus({ servers: server.url });
  const payload = new Uint8Array(1_000);
  const took: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const startedMs = performance.now();
    await bus.request("echo", payload, { timeoutMs: 5_000 });
    took.push(performance.now() - startedMs);
  }
  await bus.close();
  await kill(echo);
  return took.slice(count / 10);
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
