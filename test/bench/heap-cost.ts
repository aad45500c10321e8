/** Live heap per waiting agent: children whose model does not answer, everything else as it is in use. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import { createActorHost } from "@troupe/runtime";
import { ask, benchWorld, delegations } from "./company.ts";

const agents = Number(process.argv[2] ?? 2_000);
const collect = globalThis.gc;
if (!collect) throw new Error("run with --expose-gc");

const folder = await mkdtemp(path.join(tmpdir(), "troupe-bench-"));
const journal = await openSqliteJournal({ file: path.join(folder, "journal.db") });
const record = await openRecord({ file: path.join(folder, "troupe.db") });
const recorder = startRecorder({ journal, record });
let waiting = 0;
const allWait = Promise.withResolvers<void>();
const world = benchWorld(journal, async (agent, step) => {
  if (agent === "main" && step === 1) return { calls: delegations(agents) };
  waiting += 1;
  if (waiting === agents) allWait.resolve();
  return new Promise(() => {});
});
const host = createActorHost({ world, capacity: agents + 1 });
await host.start();
await recorder.caughtUp();
const settle = async (): Promise<number> => {
  for (let i = 0; i < 5; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
  }
  return process.memoryUsage().heapUsed;
};
const before = await settle();
void ask(world, "wait");
await allWait.promise;
await recorder.caughtUp();
const after = await settle();
console.log(JSON.stringify({ agents, heapKbPerAgent: (after - before) / 1024 / agents }));
await rm(folder, { recursive: true });
process.exit(0);
