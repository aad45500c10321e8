/**
 * The search tool over a generated tree, through the tool host and the sandbox, beside a bare ripgrep with the same
 * flags: once printing each line, as in a terminal, once only counting, which is the least that it can do.
 *
 * node test/bench/search-cost.ts [files]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolCall, ToolContext } from "@troupe/core";
import { defaultPolicy } from "@troupe/core";
import { createSandbox, createToolHost, createTools } from "@troupe/tools";
import { rgPath } from "@vscode/ripgrep";
import { watchLoopLag } from "./loop-lag.ts";

const files = Number(process.argv[2] ?? 50_000);
const filesPerFolder = 50;
const wordsPerFile = 300;
const rounds = 5;
/** In most files, on several lines each; in one file of ten thousand. */
const patterns = { common: "return [a-z]+", rare: "needle_[0-9]+" } as const;

await using tree = await mkdtempDisposable(join(tmpdir(), "troupe-bench-tree-"));
await generateTree(tree.path);
const sandbox = await createSandbox();
const host = createToolHost({
  tools: createTools({
    sandbox,
    web: defaultPolicy.web,
    memoryFolder: tree.path,
    env: {},
    journal: { readRun: async () => [] },
  }),
});
const context: ToolContext = {
  session: "bench",
  run: "bench",
  agent: "main",
  workspace: tree.path,
  grant: { tools: ["search", "glob", "plan_files"], agents: [], writes: [] },
  signal: new AbortController().signal,
  idempotencyKey: "bench",
  approved: true,
  plan: null,
};

const common = await compare(patterns.common);
const rare = await compare(patterns.rare);
const globMs = await callMs("glob", { pattern: "**/*_7.ts" });
const planMs = await callMs("plan_files", { goal: "where is the needle of the journal parsed and retried?" });
console.log(JSON.stringify({ files, sandbox: sandbox.kind, common, rare, globMs, planMs }));

/** Medians of alternating rounds, after one that warms the caches of all of them. */
async function compare(pattern: string) {
  const ms = { lines: [] as number[], counts: [] as number[], troupe: [] as number[] };
  const lagsMs: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const lines = await bareMs(["--line-number", "--with-filename", "--no-heading"], pattern);
    const counts = await bareMs(["--count", "--with-filename"], pattern);
    const watch = watchLoopLag();
    const troupe = await callMs("search", { pattern });
    const lag = watch.stop();
    if (round === 0) continue;
    ms.lines.push(lines);
    ms.counts.push(counts);
    ms.troupe.push(troupe);
    lagsMs.push(lag.maxMs);
  }
  const troupeMs = median(ms.troupe);
  const [linesMs, countsMs] = [median(ms.lines), median(ms.counts)];
  return { troupeMs, linesMs, countsMs, lagMaxMs: Math.max(...lagsMs) };
}

async function callMs(name: string, args: ToolCall["args"]): Promise<number> {
  const startedMs = performance.now();
  const outcome = await host.run({ id: "1", name, args, problem: null }, context);
  if (outcome.error) throw new Error(outcome.error.message);
  return performance.now() - startedMs;
}

/** Reads the output and discards it. */
async function bareMs(flags: readonly string[], pattern: string): Promise<number> {
  const startedMs = performance.now();
  const always = ["--no-config", "--color=never", "--hidden", "--glob=!.git", "--no-require-git", "--case-sensitive"];
  const child = spawn(rgPath, [...always, ...flags, `--regexp=${pattern}`, "--", "."], {
    cwd: tree.path,
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout.resume();
  await once(child, "close");
  return performance.now() - startedMs;
}

async function generateTree(root: string): Promise<void> {
  const random = seeded(7);
  const vocabulary =
    "const let return journal session actor message bus retry parse string number await for of if else value state";
  const words = vocabulary.split(" ");
  for (let first = 0; first < files; first += filesPerFolder) {
    const folder = join(root, `area_${first % 17}`, `part_${first % 23}`, `folder_${first / filesPerFolder}`);
    await mkdir(folder, { recursive: true });
    const made = Array.from({ length: Math.min(filesPerFolder, files - first) }, (_, i) => first + i);
    await Promise.all(made.map((n) => writeFile(join(folder, `file_${n}_${n % 10}.ts`), contentOf(n, words, random))));
  }
}

/** Some two kilobytes, ten words a line. */
function contentOf(n: number, words: readonly string[], random: () => number): string {
  const text = Array.from({ length: wordsPerFile }, (_, i) => {
    const word = words[Math.floor(random() * words.length)];
    return i % 10 === 9 ? `${word};\n` : `${word} `;
  }).join("");
  return n % 10_000 === 1_234 ? `${text}needle_${n}\n` : text;
}

/** Park and Miller's: the same tree on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
