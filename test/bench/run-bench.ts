import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { didYouMean } from "@troupe/core/internal";
import { findNatsServer } from "../harness/nats-server.ts";
import type { Benchmark, Figure } from "./benchmark.ts";
import { benchmarks } from "./benchmarks/index.ts";
import { figureLine } from "./figure-line.ts";
import { measure } from "./measure.ts";

const help = `Measures troupe beside its floors: the same work without troupe, in the same run.

  pnpm bench [NAME …] [--json] [--out FILE]

  --list      prints the names, each with its figures
  --json      prints one object with all figures, at the end
  --out FILE  writes the same object to FILE
  --help      prints this

Without a name all benchmarks run, one after the other, for more than ten minutes. Machines are noisy: read the ratios
and the range. A missed aim does not count as a failure.

  pnpm bench start files --json
`;

interface Report {
  node: string;
  figures: (Figure & { benchmark: string })[];
}

/** A mistake in the command line. */
class UsageError extends Error {}

/** Where the command prints. */
export interface BenchOutput {
  out(text: string): void;
  err(text: string): void;
}

/** `pnpm bench`: the figures that troupe promises, each beside its floor. Resolves to the exit code. */
export async function runBench(words: readonly string[], output: BenchOutput): Promise<number> {
  try {
    await execute(words, output);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    output.err(`${error.message}\n`);
    return 2;
  }
}

async function execute(words: readonly string[], output: BenchOutput): Promise<void> {
  const { values, positionals } = parse(words);
  if (values.help) return output.out(help);
  if (values.list) return output.out(listOf(benchmarks));
  const chosen = positionals.length === 0 ? benchmarks : [...new Set(positionals)].map(benchmarkNamed);
  const report = await runAll(chosen, values.json ? { ...output, out: () => {} } : output);
  const text = `${JSON.stringify(report)}\n`;
  if (values.out !== undefined) await writeFile(values.out, text);
  if (values.json) output.out(text);
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      // pnpm passes on a separating `--`.
      args: words.filter((word) => word !== "--"),
      allowPositionals: true,
      options: {
        list: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        out: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error} See pnpm bench --help`);
  }
}

function listOf(all: readonly Benchmark[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  return all.map(({ name, what }) => `${name.padEnd(width)}  ${what}\n`).join("");
}

function benchmarkNamed(name: string): Benchmark {
  const found = benchmarks.find((one) => one.name === name);
  if (found) return found;
  const names = benchmarks.map((one) => one.name);
  throw new UsageError(`no benchmark has the name "${name}": ${didYouMean(name, names) ?? "see pnpm bench --list"}`);
}

/** Runs them in order. Each line is printed as soon as its figure is measured. */
async function runAll(chosen: readonly Benchmark[], { out, err }: BenchOutput): Promise<Report> {
  const report: Report = { node: process.version, figures: [] };
  for (const { name, needsNats = false, figures } of chosen) {
    if (needsNats && findNatsServer() === null) {
      err(`${name}: not measured, because there is no nats-server. Run: node scripts/fetch-nats.ts\n`);
      continue;
    }
    for await (const figure of figures(measure)) {
      report.figures.push({ benchmark: name, ...figure });
      out(`${figureLine(figure)}\n`);
    }
  }
  return report;
}
