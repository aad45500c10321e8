/**
 * Reads and writes through the tools while another process swaps a folder and a file for links that lead out. To run it
 * by hand with a million swaps: `node packages/tools/src/workspace/swap-race.test-helper.ts 1000000`.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ToolContext } from "@troupe/core";
import { fileTools } from "../files/file-tools.test-helper.ts";

export interface SwapRace {
  swaps: number;
  tries: number;
  /** Successful tries: the race would prove nothing if all were refused. */
  done: number;
  /** Descriptions of reads and writes outside the workspace. */
  escapes: string[];
}

/** One try, which resolves to the content that it read. */
export type Try = (workspace: string, i: number) => Promise<string>;

/** Tries go on until all swaps are made, or `isEnough`. */
export async function runSwapRace(swaps: number, tries: readonly Try[], isEnough = (_: SwapRace) => false) {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "troupe-race-"));
  const race: SwapRace = { swaps: 0, tries: 0, done: 0, escapes: [] };
  try {
    const { workspace, outside } = await makeWorkspace(folder);
    const helper = fileURLToPath(new URL("swapper.test-helper.ts", import.meta.url));
    let isOver = false;
    const swapping = promisify(execFile)(process.execPath, [helper, workspace, String(swaps)]).finally(() => {
      isOver = true;
    });
    swapping.catch(() => {});
    const loop = async (attempt: Try): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const read = await attempt(workspace, i).catch(() => null);
        race.tries += 1;
        if (read !== null) race.done += 1;
        if (read?.includes("SECRET")) race.escapes.push(`read: ${read.slice(0, 80)}`);
        if (i % 16 === 0) race.escapes.push(...(await changesIn(outside)));
        if (isEnough(race)) isOver = true;
      }
      await writeFile(join(folder, "stop"), "");
    };
    await Promise.all(tries.map(loop));
    race.swaps = Number((await swapping).stdout);
    race.escapes.push(...(await changesIn(outside)));
    return race;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeWorkspace(folder: string): Promise<{ workspace: string; outside: string }> {
  const [workspace, outside] = [join(folder, "workspace"), join(folder, "outside")];
  await mkdir(join(workspace, "sub"), { recursive: true });
  await mkdir(outside);
  for (const path of [join(workspace, "sub", "a.txt"), join(workspace, "file.txt")]) await writeFile(path, "inside");
  for (const name of ["a.txt", "file.txt"]) await writeFile(join(outside, name), "SECRET");
  await symlink("../outside", join(workspace, "sub.link"));
  await symlink("../outside/file.txt", join(workspace, "file.txt.link"));
  return { workspace, outside };
}

async function changesIn(outside: string): Promise<string[]> {
  const names = (await readdir(outside)).filter((name) => name !== "a.txt" && name !== "file.txt");
  const changed = await Promise.all(
    ["a.txt", "file.txt"].map(async (name) => (await readFile(join(outside, name), "utf8")) !== "SECRET"),
  );
  return [...names.map((name) => `made outside: ${name}`), ...(changed.includes(true) ? ["written outside"] : [])];
}

const { read, write, edit } = fileTools();

function contextIn(workspace: string, key: string): ToolContext {
  return {
    session: "s",
    run: "r",
    agent: "main",
    workspace,
    grant: { tools: [], agents: [], writes: [] },
    signal: new AbortController().signal,
    idempotencyKey: key,
    approved: false,
    plan: null,
  };
}

function trying(tool: typeof read, argsOf: (i: number) => object): Try {
  return async (workspace, i) => {
    const context = contextIn(workspace, `${tool.spec.name}/${i}`);
    return (await tool.bind(argsOf(i), context).run(context)).output;
  };
}

/** The operations of the file tools. */
export const toolTries: readonly Try[] = [
  trying(read, () => ({ path: "sub/a.txt" })),
  trying(read, () => ({ path: "file.txt" })),
  trying(write, (i) => ({ path: `sub/new-${i % 50}/deep.txt`, content: `new ${i}` })),
  trying(write, (i) => ({ path: "file.txt", content: `inside ${i}` })),
  trying(edit, () => ({ path: "sub/a.txt", old: "SECRET", new: "PWNED" })),
];

if (import.meta.main) {
  const race = await runSwapRace(Number(process.argv[2] ?? 1_000_000), toolTries);
  process.stdout.write(`${JSON.stringify(race)}\n`);
  process.exitCode = race.escapes.length > 0 ? 1 : 0;
}
