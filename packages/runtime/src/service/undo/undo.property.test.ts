/**
 * Random changes by the file tools, and then an undo: the tree is as it was before, to the byte and the permission bit. The
 * same for an undo that is killed at a random file and repeated, and for one that is taken back.
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolCall, type ToolContext } from "@troupe/core";
import { createFileTools, createToolHost } from "@troupe/tools";
import fc from "fast-check";
import { describe, expect, inject } from "vitest";
import { root, session } from "../service.fixture.ts";
import { type TestCall, undoTest as test, treeOf, type UndoSite } from "./undo.fixture.ts";

const seeds = Array.from({ length: inject("long") ? 200 : 12 }, (_, i) => i);
const paths = ["a", "b.txt", "x/c", "x/y/d", "x/y/e", "z/deep/er/f"];

describe("random changes", () => {
  test.for(seeds)(
    "seed %i: an undo gives the original tree, and taking it back the changed one",
    async (seed, { site }) => {
      const random = randomNumbers(seed);
      await fillFolder(site.folder, random);
      const before = await treeOf(site.folder);
      const calls = await playTools(site, random);
      const after = await treeOf(site.folder);
      await site.addRun(calls);

      await killedAtSomeFile(site, random);
      expect(["done", "nothing"]).toContain((await site.undo()).outcome);
      expect(await treeOf(site.folder)).toEqual(before);
      // A killed undo and the one that finished it are taken back one after the other.
      const undos = (await site.deps.commands()).filter(({ kind }) => kind === "undo.planned");
      for (const _ of undos) await site.undo({ redo: true });
      expect(withoutEmptyFolders(await treeOf(site.folder))).toEqual(withoutEmptyFolders(after));
    },
  );
});

/** Numbers in [0, 1) that are the same for the same seed. */
function randomNumbers(seed: number): () => number {
  const numbers = fc.sample(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { seed, numRuns: 200 });
  return () => numbers.pop() ?? 0;
}

/** Only files have versions: an empty folder that an undo removed stays removed. */
function withoutEmptyFolders(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tree).filter(
      ([path, entry]) =>
        entry !== "folder" ||
        Object.keys(tree).some((other) => other.startsWith(`${path}/`) && tree[other] !== "folder"),
    ),
  );
}

async function fillFolder(folder: string, random: () => number): Promise<void> {
  for (const path of paths) {
    if (random() < 0.4) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `original ${path}\n`);
    const mode = [0o644, 0o755, 0o600, 0o640][Math.floor(random() * 4)] as number;
    await chmod(join(folder, path), mode);
  }
}

/** Runs random calls of the file tools, and returns them with their outcomes. */
async function playTools({ folder, blobs }: UndoSite, random: () => number): Promise<TestCall[]> {
  const host = createToolHost({ tools: createFileTools({ blobs }) });
  const calls: TestCall[] = [];
  for (let step = 1; step <= 25; step += 1) {
    const context = contextIn(folder, step);
    const path = paths[Math.floor(random() * paths.length)] as string;
    await host.run(callOf("read", { path }), { ...context, idempotencyKey: `${root}/${step}/9` });
    const call = await randomCall(folder, path, random, step);
    const outcome = await host.run(call, { ...context, plan: await host.plan(call, context) });
    expect(outcome.error).toBeNull();
    calls.push({ step, tool: call.name, outcome });
  }
  return calls;
}

async function randomCall(folder: string, path: string, random: () => number, step: number): Promise<ToolCall> {
  const content = await readFile(join(folder, path), "utf8").catch(() => null);
  const chance = random();
  if (content === null || chance < 0.4) return callOf("write", { path, content: `step ${step}\n` });
  if (chance < 0.7) return callOf("edit", { path, old: content, new: `${content}and ${step}\n` });
  return callOf("apply_patch", { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n` });
}

function callOf(name: string, args: object): ToolCall {
  return ToolCall.parse({ id: name, name, args });
}

function contextIn(workspace: string, step: number): ToolContext {
  return {
    ...{ session, run: root, agent: "main", workspace, signal: new AbortController().signal, plan: null },
    grant: { tools: ["read", "write", "edit", "apply_patch"], agents: [], writes: [] },
    idempotencyKey: `${root}/${step}/0`,
    approved: true,
  };
}

/** Ends an undo before one of its files, as a kill of its process does. */
async function killedAtSomeFile({ deps, undo }: UndoSite, random: () => number): Promise<void> {
  let left = Math.floor(random() * 5);
  const { failpoint } = deps;
  deps.failpoint = {
    at() {
      left -= 1;
      if (left < 0) throw new Error("killed");
    },
  };
  await undo().catch((error: Error) => expect(error.message).toBe("killed"));
  deps.failpoint = failpoint;
}
