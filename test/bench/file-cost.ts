/** Reading and editing a file of 10 MB through the tools, beside the bare file system. */
import { mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createFileTools, createToolHost } from "@troupe/tools";

export interface FileCost {
  readMs: number;
  readFloorMs: number;
  editMs: number;
  editFloorMs: number;
}

const rounds = 10;

async function measure(): Promise<FileCost> {
  const workspace = await mkdtemp(path.join(tmpdir(), "troupe-bench-files-"));
  try {
    const file = path.join(workspace, "large.txt");
    await writeFile(
      file,
      Array.from({ length: 262_144 }, (_, i) => `line ${String(i).padStart(7, "0")} of many, with words\n`).join(""),
    );
    const host = createToolHost({ tools: createFileTools() });
    let count = 0;
    const call = async (name: string, args: Record<string, string | number>): Promise<void> => {
      count += 1;
      const context = {
        session: "s",
        run: "r",
        agent: "main",
        workspace,
        grant: { tools: ["read", "edit"], agents: [], writes: [] },
        signal: new AbortController().signal,
        idempotencyKey: `r/${count}/0`,
        approved: false,
        plan: null,
      };
      const toolCall = { id: `${count}`, name, args, problem: null };
      const { error } = await host.run(toolCall, { ...context, plan: await host.plan(toolCall, context) });
      if (error) throw new Error(error.message);
    };
    return {
      readMs: await each(() => call("read", { path: "large.txt", offset: 100_000, limit: 100 })),
      readFloorMs: await each(() => readFile(file)),
      editMs: await each((i) =>
        call("edit", { path: "large.txt", old: `line 0100${i}00 of`, new: `LINE 0100${i}00 of` }),
      ),
      editFloorMs: await each(() => replace(file)),
    };
  } finally {
    await rm(workspace, { recursive: true });
  }
}

async function replace(file: string): Promise<void> {
  const bytes = await readFile(file);
  await using temporary = await open(`${file}.tmp`, "w");
  await temporary.writeFile(bytes);
  await temporary.sync();
  await rename(`${file}.tmp`, file);
  await using folder = await open(path.dirname(file), "r");
  await folder.sync();
}

/** The median of some rounds. */
async function each(work: (i: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const startedMs = performance.now();
    await work(i);
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
}

if (import.meta.main) console.log(JSON.stringify(await measure()));
