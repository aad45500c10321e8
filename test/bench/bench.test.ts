import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../harness/temp-folder.ts";
import { benchmarks } from "./benchmarks/index.ts";
import { runBench } from "./run-bench.ts";

const main = join(import.meta.dirname, "main.ts");

interface BenchResult {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** Runs the command in a process of its own. */
function startBench(...words: string[]): Promise<BenchResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** Runs a command that measures nothing in this process. */
async function bench(...words: string[]): Promise<BenchResult> {
  const result = { stdout: "", stderr: "" };
  const code = await runBench(words, {
    out: (text) => {
      result.stdout += text;
    },
    err: (text) => {
      result.stderr += text;
    },
  });
  return { ...result, code };
}

it("lists each benchmark with its name and one line", async () => {
  const { code, stdout } = await bench("--list");
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual(benchmarks.map(({ name, what }) => [name, what]));
});

it("has benchmarks with different names", () => {
  expect(new Set(benchmarks.map(({ name }) => name)).size).toBe(benchmarks.length);
});

it("explains itself", async () => {
  const { code, stdout } = await bench("--help");
  expect(code).toBe(0);
  for (const flag of ["--list", "--json", "--out FILE", "--help"]) expect(stdout).toContain(flag);
});

it.each([
  { words: ["fan-otu"], message: 'no benchmark has the name "fan-otu": did you mean fan-out?' },
  {
    words: ["start", "everything-else"],
    message: 'no benchmark has the name "everything-else": see pnpm bench --list',
  },
  { words: ["--jsno"], message: "pnpm bench --help" },
])("refuses $words before it measures anything", async ({ words, message }) => {
  const { code, stdout, stderr } = await bench(...words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});

it("measures only the named benchmark, and prints and writes one object", async (test) => {
  const out = join(await tempFolder("bench", test), "figures.json");
  const { code, stdout } = await startBench("agents", "--json", "--out", out);
  expect(code).toBe(0);
  const report = JSON.parse(stdout);
  expect(report.node).toBe(process.version);
  expect(new Set(report.figures.map(({ benchmark }: { benchmark: string }) => benchmark))).toEqual(new Set(["agents"]));
  expect(report.figures[0]).toMatchObject({ what: "load 1,000 agent files for the first time", unit: "ms" });
  expect(report.figures[0].values).not.toEqual([]);
  expect(report.figures[0].values.filter((value: number) => !(value > 0))).toEqual([]);
  expect(existsSync(out)).toBe(true);
  expect(JSON.parse(await readFile(out, "utf8"))).toEqual(report);
});
