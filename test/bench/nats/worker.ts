/** A worker process of the benchmarks: what it is stands in its one argument, what it is asked comes over IPC. */
import { setTimeout as delay } from "node:timers/promises";
import { answeringModel } from "../company.ts";
import { natsCompany } from "./company.ts";
import { type NatsHostOptions, openNatsHost } from "./nats-host.ts";

/** `hang`: a call never answers. */
export type WorkerOptions = NatsHostOptions & { latencyMs: number | "hang" };
export type WorkerWord = { said: "ready" } | { said: "called"; atMs: number } | { said: "cpu"; cpuMs: number };

const options = JSON.parse(process.argv[2] ?? "") as WorkerOptions;
const tell = (word: WorkerWord): void => void process.send?.(word);
const models = answeringModel(async () => {
  tell({ said: "called", atMs: Date.now() });
  if (options.latencyMs === "hang") return await new Promise<never>(() => {});
  if (options.latencyMs > 0) await delay(options.latencyMs);
  return {};
});
await openNatsHost({ ...options, models, registry: natsCompany });
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  tell({ said: "cpu", cpuMs: (user + system) / 1_000 });
});
process.on("disconnect", () => process.exit());
tell({ said: "ready" });
