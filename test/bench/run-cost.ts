/** CPU per sub-agent run: real journal, real recorder, real queue and bus, a model that answers at once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { createActorHost } from "@troupe/runtime";
import { ask, benchWorld, delegations } from "./company.ts";

const childrenPerRoot = 50;
const roots = Number(process.argv[2] ?? 40);

const folder = await mkdtemp(path.join(tmpdir(), "troupe-bench-"));
const journal = await openSqliteJournal({ file: path.join(folder, "journal.db") });
const record = await openRecord({ file: path.join(folder, "troupe.db") });
const recorder = startRecorder({ journal, record });
const world = benchWorld(journal, async (agent, step) =>
  agent === "main" && step === 1 ? { calls: delegations(childrenPerRoot) } : {},
);
const host = createActorHost({ world, capacity: 64 });
await host.start();

for (let i = 0; i < 5; i += 1) await ask(world, "warm up");
await recorder.caughtUp();

const before = process.cpuUsage();
const startedMs = performance.now();
for (let i = 0; i < roots; i += 1) await ask(world, "measure");
await recorder.caughtUp();
const wallMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(before);
const runs = roots * (childrenPerRoot + 1);

await host.stop({ graceMs: 0 });
await recorder.stop();
await record.close();
await journal.close();
await rm(folder, { recursive: true });
console.log(JSON.stringify({ runs, cpuMsPerRun: (user + system) / 1000 / runs, wallMsPerRun: wallMs / runs }));
