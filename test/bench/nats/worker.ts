/** A worker process of the benchmarks. Its settings are its one argument; requests come over IPC. */
import { setTimeout as delay } from "node:timers/promises";
import { answeringModel } from "../bench-agents.ts";
import { natsAgents } from "./nats-agents.ts";
import { type NatsHostOptions, openNatsHost } from "./nats-host.ts";

/** `hang`: a call never answers. */
export type WorkerOptions = NatsHostOptions & { latencyMs: number | "hang" };
export type WorkerMessage = { kind: "ready" } | { kind: "called"; atMs: number } | { kind: "cpu"; cpuMs: number };

const options = JSON.parse(process.argv[2] ?? "") as WorkerOptions;
const send = (message: WorkerMessage): void => void process.send?.(message);
const models = answeringModel(async () => {
  send({ kind: "called", atMs: Date.now() });
  if (options.latencyMs === "hang") return await new Promise<never>(() => {});
  if (options.latencyMs > 0) await delay(options.latencyMs);
  return {};
});
await openNatsHost({ ...options, models, registry: natsAgents });
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  send({ kind: "cpu", cpuMs: (user + system) / 1_000 });
});
process.on("disconnect", () => process.exit());
send({ kind: "ready" });
