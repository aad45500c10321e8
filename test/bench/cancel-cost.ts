/**
 * Cancels a tree of a thousand active runs. Measures the time until all have stopped, and counts calls begun after the
 * cancel was durable.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Journal } from "@troupe/core";
import { defineTool } from "@troupe/tools";
import { z } from "zod";
import { answeringModel, batch } from "./bench-agents.ts";
import { openBenchHome } from "./bench-home.ts";

/** 1 + 9 + 990 runs. */
const leads = 9;
const workersPerLead = Number(process.argv[2] ?? 110);
const runs = 1 + leads + leads * workersPerLead;
const callMs = 300;

let cancelledAtMs = Number.POSITIVE_INFINITY;
let callsAtWork = 0;
let callsBegunAfter = 0;
const settled = new Set<string>();
const allSettled = Promise.withResolvers<void>();

/** Counts every call that begins after the cancel is in the journal. */
async function work<T>(signal: AbortSignal, value: T): Promise<T> {
  if (performance.now() > cancelledAtMs) callsBegunAfter += 1;
  callsAtWork += 1;
  await delay(callMs * (0.5 + Math.random()), undefined, { signal }).finally(() => {
    callsAtWork -= 1;
  });
  return value;
}

const look = defineTool({
  name: "look",
  description: "Looks for a while.",
  input: z.strictObject({ turn: z.int() }),
  risk: "low",
  effect: "read",
  run: (_args, { signal }) => work(signal, { output: "nothing yet" }),
});

/** Workers take turns for ever: a call of the model, then two of a tool. */
const models = answeringModel(async ({ agent, step }, signal) => {
  if (agent === "main" && step === 1) return { calls: batch(leads, "lead") };
  if (agent === "lead" && step === 1) return { calls: batch(workersPerLead) };
  const calls = [0, 1].map((i) => ({ id: `look-${i}`, name: "look", args: { turn: 2 * step + i }, problem: null }));
  return work(signal, agent === "worker" ? { calls } : {});
});

/** Notes when the wish has become durable: from then on nothing may begin. */
function watching(journal: Journal): Journal {
  return {
    ...journal,
    async appendInbox(item) {
      const stored = await journal.appendInbox(item);
      if (item.kind === "session.cancelled") cancelledAtMs = performance.now();
      return stored;
    },
  };
}

const home = await openBenchHome({
  models,
  tools: [look],
  capacity: runs,
  watching,
  failpoint: {
    at(point, { run }) {
      if (point === "settle:after") settled.add(run);
      if (settled.size === runs) allSettled.resolve();
    },
  },
});
// Each lead's share has to do for all its workers, and their retries.
const budget = { spawns: 10 * runs };
const { session } = await home.service.submit({ task: "work for ever", origin: "api", budget });
while (home.host.activeRuns() < runs || callsAtWork < runs / 2) await delay(50);
// Until everybody is somewhere in the middle of what it does for ever.
await delay(3 * callMs);
await home.recorder.caughtUp();

const before = process.cpuUsage();
const startedMs = performance.now();
const cancelled = home.service.cancel(session, "the benchmark wants it").then(() => performance.now() - startedMs);
await allSettled.promise;
const stoppedMs = performance.now() - startedMs;
const answeredMs = await cancelled;
const { user, system } = process.cpuUsage(before);
await delay(3 * callMs);
await home.close();

console.log(
  JSON.stringify({
    runs,
    stoppedMs,
    durableMs: cancelledAtMs - startedMs,
    answeredMs,
    cpuMs: (user + system) / 1_000,
    callsBegunAfter,
    callsAtWorkAfter: callsAtWork,
  }),
);
