/**
 * One side of the fan-out: `measure.ts <wire> <bare|troupe> <children> <latencyMs> <times>`. In a process of its own:
 * neither side warms or fouls the other.
 */
import { delegationSpecs, listAgents } from "@troupe/core/internal";
import { bareFanOut, type WireName } from "./bare.ts";
import { lookupsDone, lookupTool } from "./lookup.ts";
import { type FloorServer, startFloorServer } from "./start-server.ts";

const [wire, side] = process.argv.slice(2) as [WireName, "bare" | "troupe"];
const [children = 8, latencyMs = 0, times = 10] = process.argv.slice(4).map(Number);
/** Teams that wait at the same time while the heap is measured: one alone would drown in noise. */
const teams = Number(process.argv[7] ?? 0);

const heldMs = 20_000;
const server = await startFloorServer(children, teams > 0 ? heldMs : latencyMs, teams > 0 ? 1 : latencyMs);
const fanOut = await workload(server);
const figures = teams > 0 ? await heap(server) : await cost();
await fanOut.close();
server.close();
console.log(JSON.stringify(figures));
// Requests that the server still holds would keep the bare side alive.
process.exit(0);

async function cost() {
  // As many calls as make the compiler sure of what it sees; where each waits, as many as there is patience for.
  const warmUpCalls = latencyMs === 0 ? 3_000 : Math.max(320, 6 * children);
  for (let calls = 0; calls < warmUpCalls; calls += 2 * children) await fanOut.once();
  await fanOut.settled();
  const walls: number[] = [];
  const lookupsBefore = lookupsDone();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i += 1) {
    const startedMs = performance.now();
    await fanOut.once();
    walls.push(performance.now() - startedMs);
  }
  await fanOut.settled();
  const { user, system } = process.cpuUsage(before);
  const lookups = lookupsDone() - lookupsBefore;
  if (lookups !== times * children) throw new Error(`${times * children} lookups were to be made, and ${lookups} were`);
  const [wallMs] = walls.sort((a, b) => a - b).slice(Math.floor(times / 2));
  return { cpuMsPerChild: (user + system) / 1_000 / times / children, wallMs };
}

async function heap(held: FloorServer) {
  const before = await settledHeap();
  const asked = Array.from({ length: teams }, () => fanOut.once());
  await held.waits(teams * children);
  await fanOut.settled();
  const bytes = (await settledHeap()) - before;
  for (const answer of asked) answer.catch(() => {});
  return { heapKbPerChild: bytes / 1_024 / teams / children };
}

/** Heap in use after garbage collection. */
async function settledHeap(): Promise<number> {
  for (let i = 0; i < 5; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

interface Workload {
  once(): Promise<unknown>;
  /** Resolves when the work after an answer, such as its record, is done too. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

async function workload({ url }: FloorServer): Promise<Workload> {
  if (side === "bare") {
    const [delegate = lookupTool.spec] = delegationSpecs(listAgents([{ id: "worker", description: "Works." }]), "list");
    const tools = { delegate: toolOf(delegate), lookup: toolOf(lookupTool.spec) };
    return { once: () => bareFanOut(wire, url, tools), settled: async () => {}, close: async () => {} };
  }
  const { openTroupe } = await import("./troupe.ts");
  const home = await openTroupe(wire, url, (teams || 1) * (children + 1));
  return {
    async once() {
      const { status, error } = await home.ask("measure", children);
      if (status !== "completed") throw new Error(`the tree ended ${status}: ${error?.message}`);
    },
    settled: () => home.recorder.caughtUp(),
    close: () => home.close(),
  };
}

/** Both sides show the model the same tools. */
function toolOf({
  name,
  description,
  inputSchema,
}: {
  name: string;
  description: string;
  inputSchema: object;
}): object {
  if (wire === "anthropic") return { name, description, input_schema: inputSchema };
  if (wire === "openai-chat") return { type: "function", function: { name, description, parameters: inputSchema } };
  return { type: "function", name, description, parameters: inputSchema, strict: false };
}
