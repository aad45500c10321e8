/**
 * `pnpm bench`: the figures that troupe promises, each beside its floor, in one run. Machines are noisy: read the
 * ratios, and the spread. With `--json` one object, for comparing runs.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fanOutFigures } from "./fan-out/figures.ts";
import type { Figure } from "./figure.ts";
import { type FileCost, fileFigures } from "./file-cost.ts";
import type { Lag } from "./loop-lag.ts";
import { natsFigures } from "./nats/figures.ts";
import { natsJournalFigures } from "./nats-journal-figures.ts";
import { recorderFigures } from "./recorder-figures.ts";
import { sandboxFigures } from "./sandbox-figures.ts";
import { searchFigures } from "./search-figures.ts";
import { measureStarts } from "./starts.ts";

interface Crowd {
  heapMb: number;
  heapKbPerAgent: number;
  drainedMs: number;
  lag: Lag;
  floorLag: Lag;
}

const iterations = 3;
const spreadMs = "10000";

const floors = await measure<{
  xstateCpuMsPerLife: number;
  xstateHeapKbPerActor: number;
  singleMs: number;
  grouped50CpuMsPerRow: number;
}>(1, "floors.ts");
const starts = await measureStarts();
const costs = await measure<{ cpuMsPerRun: number; wallMsPerRun: number }>(iterations, "run-cost.ts");
const wide = await measure<{ ratio: number; addedMsPerChild: number; floorAddedMsPerLife: number }>(
  iterations,
  "wide-cost.ts",
);
const cancels = await measure<{ stoppedMs: number; answeredMs: number; callsBegunAfter: number }>(
  iterations,
  "cancel-cost.ts",
);
const bunched = await measure<Crowd>(iterations, "crowd-cost.ts");
const spread = await measure<Crowd>(iterations, "crowd-cost.ts", "10000", spreadMs);

const fanOuts = await fanOutFigures(measure, iterations);

const figures: Figure[] = [
  { what: "`troupe up` to ready, warm", values: starts.readyMs, unit: "ms", aim: 1_500 },
  { what: "  floor: node that does nothing", values: starts.floorMs, unit: "ms" },

  {
    what: "CPU per sub-agent run, journal and recorder on",
    values: costs.map((c) => c.cpuMsPerRun),
    unit: "ms",
    aim: 1,
  },
  { what: "  wall time of the same, 50 children at once", values: costs.map((c) => c.wallMsPerRun), unit: "ms" },
  { what: "  floor: CPU of a bare XState actor's life", values: floors.map((f) => f.xstateCpuMsPerLife), unit: "ms" },
  {
    what: "  floor: CPU of a bare SQLite row, 50 a commit",
    values: floors.map((f) => f.grouped50CpuMsPerRow),
    unit: "ms",
  },
  { what: "  floor: one bare SQLite commit (FULL)", values: floors.map((f) => f.singleMs), unit: "ms" },

  {
    what: "1,000 children at once, 2 s a call: wall over ideal",
    values: wide.map((w) => w.ratio),
    unit: "×",
    aim: 1.25,
  },
  { what: "  added wall time per child", values: wide.map((w) => w.addedMsPerChild), unit: "ms" },
  { what: "  floor: the same of a bare XState actor", values: wide.map((w) => w.floorAddedMsPerLife), unit: "ms" },

  { what: "10,000 waiting agents: live heap", values: bunched.map((c) => c.heapMb), unit: "MB", aim: 500 },
  { what: "  per agent", values: bunched.map((c) => c.heapKbPerAgent), unit: "KB", aim: 40 },
  { what: "  floor: a bare waiting XState actor", values: floors.map((f) => f.xstateHeapKbPerActor), unit: "KB" },
  ...lagFigures("at one moment", bunched),
  ...lagFigures("within 10 s", spread),

  {
    what: "cancel of 1,000 runs at work: all have stopped",
    values: cancels.map((c) => c.stoppedMs),
    unit: "ms",
    aim: 2_000,
  },
  { what: "  its sender has its answer", values: cancels.map((c) => c.answeredMs), unit: "ms" },
  { what: "  calls begun after it was durable", values: cancels.map((c) => c.callsBegunAfter), unit: "", aim: 0 },

  ...fanOuts,
  ...(await searchFigures(measure, 1)),

  ...(await sandboxFigures(measure)),
  ...(await natsFigures(measure, iterations)),
  ...(await natsJournalFigures(measure)),

  ...(await recorderFigures(measure, iterations)),

  ...fileFigures(await measure<FileCost>(iterations, "file-cost.ts")),
];

if (process.argv.includes("--json")) console.log(JSON.stringify({ node: process.version, figures }));
else print(figures);

function lagFigures(when: string, crowds: readonly Crowd[]): Figure[] {
  return [
    {
      what: `  their timers fire ${when}: event loop lag, p99`,
      values: crowds.map((c) => c.lag.p99Ms),
      unit: "ms",
      aim: 100,
    },
    { what: "    the longest", values: crowds.map((c) => c.lag.maxMs), unit: "ms" },
    { what: "    until all have ended", values: crowds.map((c) => c.drainedMs), unit: "ms" },
    {
      what: "    floor: lag of as many bare XState actors, p99",
      values: crowds.map((c) => c.floorLag.p99Ms),
      unit: "ms",
    },
  ];
}

function print(rows: readonly Figure[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length));
  for (const { what, values, unit, aim } of rows) {
    const value = median(values);
    const [least, most] = [Math.min(...values), Math.max(...values)].map(shown);
    const range = least === most ? "" : `${least} – ${most}`;
    const assessment = aim === undefined ? "" : `aim ≤ ${aim} ${unit}: ${value <= aim ? "met" : "MISSED"}`;
    console.log(
      `${what.padEnd(width)}  ${shown(value).padStart(7)} ${unit.padEnd(2)}  ${range.padEnd(17)}  ${assessment}`.trimEnd(),
    );
  }
}

function shown(value: number): string {
  if (Number.isInteger(value)) return value.toString();
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

/** Each measurement is a process of its own: nothing warms or fouls another. */
async function measure<T>(times: number, script: string, ...args: string[]): Promise<T[]> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const measured: T[] = [];
  for (let i = 0; i < times; i += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", file, ...args]);
    measured.push(JSON.parse(stdout) as T);
  }
  return measured;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
