/**
 * One delegation at a time from a parent in this process to a child in another, with models that answer at once: from
 * the parent's reply that asks to its next call, which knows the answer. Beside it the plain round trip of the same
 * client between two processes, and a published and acknowledged message.
 */
import { once } from "node:events";
import { createNatsBus } from "@troupe/runtime";
import { startNatsServer } from "../../harness/nats-server.ts";
import { answeringModel } from "../company.ts";
import { natsCompany } from "./company.ts";
import { openNatsHost } from "./nats-host.ts";
import { forkScript, kill, startWorker } from "./processes.ts";
import { askRoot, delegateTo } from "./root.ts";
import { serverFlags } from "./server-flags.ts";

const flags = await serverFlags(process.argv[2]);
const warmUps = 50;
const delegations = 400;

const server = await startNatsServer({ flags: flags.args });
const shared = { url: server.url, namespace: "bench", capacity: 8, leaseMs: 8_000 };
const worker = await startWorker({ ...shared, name: "child", agents: ["worker"], latencyMs: 0 });

const askedAtMs: number[] = [];
const tookMs: number[] = [];
const models = answeringModel(async ({ step }) => {
  const nowMs = performance.now();
  const before = askedAtMs.at(-1);
  if (before !== undefined && step > 1) tookMs.push(nowMs - before);
  if (step > warmUps + delegations) return {};
  const reply = { calls: delegateTo("worker", step) };
  askedAtMs.push(performance.now());
  return reply;
});
const parent = await openNatsHost({ ...shared, name: "parent", agents: ["main"], models, company: natsCompany });
await parent.heardOf(["child"]);

const firstMs = await roundTripsMs(1_000);
const { status } = await askRoot(parent.world);
if (status !== "completed") throw new Error(`the root ended as ${status}`);
const againMs = await roundTripsMs(1_000);

const roundTripMs = (median(firstMs) + median(againMs)) / 2;
const delegationMs = median(tookMs.slice(warmUps));
console.log(
  JSON.stringify({
    ...{ sync: flags.applied, roundTripMs, delegationMs, ratio: delegationMs / roundTripMs },
    delegationP99Ms: percentile(tookMs.slice(warmUps), 0.99),
  }),
);
await parent.close();
await worker.kill();
await server.stop();

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
