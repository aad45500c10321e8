/** Loading a folder of 1,000 agent files for the first time and again, beside reading their bytes. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAgentSource } from "@troupe/roles";

export interface AgentLoadCost {
  firstMs: number;
  againMs: number;
  floorMs: number;
}

const filesCount = 1_000;

async function measure(): Promise<AgentLoadCost> {
  const workspace = await mkdtemp(path.join(tmpdir(), "troupe-bench-agents-"));
  try {
    const folder = path.join(workspace, ".claude", "agents");
    await mkdir(folder, { recursive: true });
    await Promise.all(Array.from({ length: filesCount }, (_, i) => writeAgent(folder, i)));
    const source = createAgentSource({ userFolders: [] });
    // As after the start of a daemon: the shipped agents are loaded.
    await source.load(null);
    return {
      floorMs: await timeOf(() => readAll(folder)),
      firstMs: await timeOf(() => loadAll(source, workspace)),
      againMs: await timeOf(() => loadAll(source, workspace)),
    };
  } finally {
    await rm(workspace, { recursive: true });
  }
}

async function writeAgent(folder: string, i: number): Promise<void> {
  const lines = Array.from({ length: 60 }, (_, line) => `- Rule ${line}: do the work with care, and say what you did.`);
  const header = [
    "---",
    `name: agent-${i}`,
    `description: Use it for part ${i} of the work.`,
    "tools: Read, Grep, Bash",
  ];
  const text = [...header, "model: sonnet", "color: red", "---", "", "You are a specialist.", "", ...lines, ""];
  await writeFile(path.join(folder, `agent-${i}.md`), text.join("\n"));
}

async function readAll(folder: string): Promise<void> {
  const names = await readdir(folder);
  await Promise.all(names.map((name) => readFile(path.join(folder, name))));
}

async function loadAll(source: ReturnType<typeof createAgentSource>, workspace: string): Promise<void> {
  const { agents, problems } = await source.load(workspace);
  if (agents.length < filesCount || problems.length > 0) throw new Error(`${agents.length} agents were loaded`);
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

if (import.meta.main) console.log(JSON.stringify(await measure()));
