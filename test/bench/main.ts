/**
 * `pnpm bench`: the figures that troupe promises, each beside its floor, in one run. Machines are noisy: read the
 * ratios. With `--json` one object, for comparing runs.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cleanEnv } from "../harness/clean-env.ts";
import { cliPath } from "../harness/cli-path.ts";

interface Figure {
  what: string;
  value: number;
  unit: string;
  aim: number | null;
}

const startsPerFigure = 7;
const repeats = 3;

const floors = await measure<{
  xstateCpuMsPerLife: number;
  xstateHeapKbPerActor: number;
  singleMs: number;
  grouped50CpuMsPerRow: number;
}>("floors.ts");
const costs = [];
for (let i = 0; i < repeats; i += 1)
  costs.push(await measure<{ cpuMsPerRun: number; wallMsPerRun: number }>("run-cost.ts"));
const heap = await measure<{ heapKbPerAgent: number }>("heap-cost.ts");
const starts = await measureStarts();

const figures: Figure[] = [
  { what: "`troupe up` to ready, warm, median", value: median(starts.ready), unit: "ms", aim: 1_500 },
  { what: "  floor: node that does nothing", value: median(starts.floor), unit: "ms", aim: null },
  {
    what: "CPU per sub-agent run, journal and recorder on",
    value: median(costs.map((cost) => cost.cpuMsPerRun)),
    unit: "ms",
    aim: 1,
  },
  {
    what: "  wall time of the same, 50 children at once",
    value: median(costs.map((cost) => cost.wallMsPerRun)),
    unit: "ms",
    aim: null,
  },
  { what: "  floor: CPU of a bare XState actor's life", value: floors.xstateCpuMsPerLife, unit: "ms", aim: null },
  { what: "  floor: CPU of a bare SQLite row, 50 a commit", value: floors.grouped50CpuMsPerRow, unit: "ms", aim: null },
  { what: "  floor: one bare SQLite commit (FULL)", value: floors.singleMs, unit: "ms", aim: null },
  { what: "live heap per waiting agent", value: heap.heapKbPerAgent, unit: "KB", aim: 40 },
  { what: "  floor: a bare waiting XState actor", value: floors.xstateHeapKbPerActor, unit: "KB", aim: null },
];

if (process.argv.includes("--json")) console.log(JSON.stringify({ node: process.version, figures }));
else print(figures);

function print(rows: readonly Figure[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length));
  for (const { what, value, unit, aim } of rows) {
    const digits = value >= 100 ? 0 : value >= 1 ? 1 : 3;
    const verdict = aim === null ? "" : `   aim ≤ ${aim} ${unit}: ${value <= aim ? "met" : "MISSED"}`;
    console.log(`${what.padEnd(width)}  ${value.toFixed(digits).padStart(9)} ${unit}${verdict}`);
  }
}

/** Each measurement is a process of its own: nothing warms or fouls another. */
async function measure<T>(script: string): Promise<T> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", file]);
  return JSON.parse(stdout) as T;
}

/** A home that exists, a built checkout, nothing else running: what a second `troupe up` of the day feels like. */
async function measureStarts(): Promise<{ ready: number[]; floor: number[] }> {
  const home = await mkdtemp(path.join(tmpdir(), "troupe-bench-home-"));
  await timeToReady(home);
  const ready: number[] = [];
  const floor: number[] = [];
  for (let i = 0; i < startsPerFigure; i += 1) {
    ready.push(await timeToReady(home));
    const startedMs = performance.now();
    await once(spawn(process.execPath, ["-e", "0"]), "exit");
    floor.push(performance.now() - startedMs);
  }
  await rm(home, { recursive: true, force: true });
  return { ready, floor };
}

async function timeToReady(home: string): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [cliPath, "up", "--json", "--no-open", "--port", "0"], {
    env: cleanEnv(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(createInterface({ input: child.stdout }), "line");
  const elapsedMs = performance.now() - startedMs;
  child.kill("SIGINT");
  await once(child, "exit");
  return elapsedMs;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
