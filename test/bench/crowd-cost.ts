/** Thousands of agents that wait in one process: their heap, and how the event loop fares while their timers fire. */
import { bareLives } from "./bare-actors.ts";
import { answeringModel, batch } from "./bench-agents.ts";
import { openBenchHome } from "./bench-home.ts";
import { type Lag, watchLoopLag } from "./loop-lag.ts";

const agents = Number(process.argv[2] ?? 10_000);
/** The timers fire evenly over this time; 0: at the same moment. */
const windowMs = Number(process.argv[3] ?? 0);
const perSession = 1_000;
/** So long before the first fires all timers are set, of troupe's agents and of bare actors. */
const armMs = 500;
const bareArmMs = 3_000;
const sessions = agents / perSession;
const collect = globalThis.gc;
if (!collect) throw new Error("run with --expose-gc");

const floor = await lagOfBareActors();

let waiting = 0;
const allWait = Promise.withResolvers<void>();
/** Resolves with the moment at which the first timers are to fire. */
const released = Promise.withResolvers<number>();
const models = answeringModel(async ({ agent, step, task }) => {
  if (agent === "main") return task === "crowd" && step === 1 ? { calls: batch(perSession) } : {};
  const position = waiting;
  waiting += 1;
  if (waiting === agents) allWait.resolve();
  await timer(position, await released.promise);
  return {};
});
const home = await openBenchHome({ models, capacity: agents + sessions });
await home.ask("warm up", 1);
await home.recorder.caughtUp();
const before = await settledHeap();

const asked = Array.from({ length: sessions }, () => home.ask("crowd", perSession));
await allWait.promise;
await home.recorder.caughtUp();
const heapBytes = (await settledHeap()) - before;

const firstMs = performance.now() + armMs;
released.resolve(firstMs);
const lag = await watchFrom(firstMs);
const responses = await Promise.all(asked);
const drainedMs = performance.now() - firstMs;
const firing = lag.stop();
await home.close();
for (const { status, metrics } of responses) {
  if (status !== "completed" || metrics.charged.spawns !== perSession) throw new Error(`a tree ended ${status}`);
}
console.log(
  JSON.stringify({
    agents,
    heapMb: heapBytes / 1024 ** 2,
    heapKbPerAgent: heapBytes / 1024 / agents,
    drainedMs,
    lag: firing,
    floorLag: floor,
  }),
);

function timer(position: number, firstMs: number): Promise<string> {
  const dueMs = firstMs + (windowMs * position) / agents;
  return new Promise((resolve) => setTimeout(resolve, dueMs - performance.now(), "done"));
}

/** Starts just before the first timers fire, so that the quiet time before is not part of the figure. */
async function watchFrom(firstMs: number): Promise<{ stop(): Lag }> {
  await new Promise((resolve) => setTimeout(resolve, firstMs - performance.now() - 20));
  return watchLoopLag();
}

/** As many bare XState actors, whose timers fire in the same way. */
async function lagOfBareActors(): Promise<Lag> {
  const firstMs = performance.now() + bareArmMs;
  const allArmed = Promise.withResolvers<void>();
  let position = 0;
  const live = bareLives(() => {
    if (position === agents - 1) allArmed.resolve();
    return timer(position++, firstMs);
  });
  const lives = Array.from({ length: agents }, live);
  await allArmed.promise;
  const watch = await watchFrom(firstMs);
  await Promise.all(lives);
  return watch.stop();
}

/** Heap in use after garbage collection. */
async function settledHeap(): Promise<number> {
  for (let i = 0; i < 5; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect?.();
  }
  return process.memoryUsage().heapUsed;
}
