import { lstat, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Grant } from "@troupe/core";
import { type LinkedRepository, linkedRepository } from "../../workspace/linked-repository.ts";
import { protectedAtTop, protectedPart } from "../../workspace/protected-paths.ts";
import { openLinked } from "./linked-repository.ts";
import type { ViewStep } from "./mount-plan.ts";
import { isOfAnother, isPlaceholder, removeLeft, standDown, standIn } from "./placeholders.ts";
import { type Kept, keepUnmountable, restoreKept } from "./restore-protected.ts";
import {
  isIn,
  leadsElsewhere,
  type ProtectedPath,
  type WorkspaceFacts,
  walkWorkspace,
  writableFolders,
} from "./scan-workspace.ts";

/** A workspace, made ready for one command. */
export interface OpenWorkspace {
  steps: readonly ViewStep[];
  /** Clears up, and resolves to what the command wrote although no agent may: it has been taken away. */
  close(): Promise<string[]>;
}

/**
 * Shows a workspace at its own path: to be written where every scope allows it, to be read everywhere else. What no agent
 * writes is read-only also where it does not exist. Where that cannot be mounted, it is taken away when the command has
 * ended: that is the second layer.
 *
 * @param root without a link in it
 */
export async function openWorkspace(root: string, writes: Grant["writes"]): Promise<OpenWorkspace> {
  const linked = await linkedRepository(root);
  if (writes.some((scope) => scope.length === 0)) return readOnly(root, linked);
  return await inTurn(root, async () => {
    const facts = await lookAround(root);
    const writable = await usable(root, writableFolders(writes, facts.folders));
    const stands: string[] = [];
    const stand = async (path: string, type: "folder" | "file"): Promise<void> => {
      // Where it cannot be made, by the owner of the machine, the command cannot make it either.
      if (await standIn(join(root, path), type).catch(() => false)) stands.push(path);
    };
    for (const folder of writable) if (folder !== "") await stand(folder, "folder");
    const mayAppear = (path: string): boolean => writable.some((folder) => isIn(path, folder));
    for (const { path, type } of missingProtected(root, facts)) if (mayAppear(path)) await stand(path, type);
    const repository = linked && (await openLinked(linked, { isWritable: writable.includes("") }));
    const kept = await keepUnmountable(root, facts.protectedPaths);
    return {
      steps: [
        { kind: writable.includes("") ? "write" : "read", path: root, type: "folder" },
        ...writable
          .filter(Boolean)
          .map((path): ViewStep => ({ kind: "write", path: join(root, path), type: "folder" })),
        ...protectedSteps(root, writable, facts, stands),
        ...(repository?.steps ?? []),
      ],
      close: () =>
        inTurn(root, async () => {
          const removed = writable.length > 0 ? await sweep(root, { before: facts, kept, writable }) : [];
          for (const path of stands.toReversed()) await standDown(join(root, path));
          await repository?.close();
          return removed;
        }),
    };
  });
}

/** Where nothing can be written nothing has to be kept from it, and nobody has to walk through the workspace. */
function readOnly(root: string, linked: LinkedRepository | null): OpenWorkspace {
  const shown = linked ? [root, linked.common] : [root];
  return { steps: shown.map((path) => ({ kind: "read", path, type: "folder" })), close: async () => [] };
}

/**
 * What is in a workspace, without what only stands there for another process's commands, or was left by one that was
 * killed in the midst of a command.
 */
async function lookAround(root: string): Promise<WorkspaceFacts> {
  const facts = await walkWorkspace(root);
  const passing = new Set<string>();
  for (const { path } of facts.protectedPaths) {
    const place = join(root, path);
    if ((await removeLeft(place)) || (await isOfAnother(place))) passing.add(path);
  }
  return { ...facts, protectedPaths: facts.protectedPaths.filter(({ path }) => !passing.has(path)) };
}

/** Nobody looks at a workspace while somebody else changes it here. */
const turns = new Map<string, Promise<unknown>>();

function inTurn<T>(root: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(root) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine
    .catch(() => {})
    .finally(() => {
      if (turns.get(root) === settled) turns.delete(root);
    });
  turns.set(root, settled);
  return mine;
}

async function usable(root: string, folders: readonly string[]): Promise<string[]> {
  const checked = await Promise.all(
    folders.map(async (folder) => {
      if (folder === "") return folder;
      if (protectedPart(folder) !== null || (await leadsElsewhere(root, folder))) return null;
      return folder;
    }),
  );
  return checked.filter((folder) => folder !== null);
}

/** What no agent writes and that is not there, as far as its place is known beforehand. */
function missingProtected(
  root: string,
  { protectedPaths, repositories }: WorkspaceFacts,
): { path: string; type: "folder" | "file" }[] {
  // What only stands in for another command has to stay for this one too.
  const own = protectedPaths.filter(({ path }) => !isPlaceholder(join(root, path)));
  const present = new Set(own.map(({ path }) => path.toLowerCase()));
  const [ofGit, names] = [protectedAtTop.filter(isOfGit), protectedAtTop.filter((name) => !isOfGit(name))];
  const wanted = [
    // A folder, whatever it would be: git does not see an empty one, and nobody takes it for settings.
    ...names.map((path) => ({ path, type: "folder" as const })),
    ...repositories.flatMap((git) =>
      ofGit
        .map((name) => name.slice(".git/".length))
        // An empty one would break the repository.
        .filter((name) => name !== "commondir")
        .map((name) => ({ path: `${git}/${name}`, type: foldersOfGit.includes(name) ? "folder" : "file" }) as const),
    ),
  ];
  return wanted.filter(({ path }) => !present.has(path.toLowerCase()));
}

const foldersOfGit: readonly string[] = ["hooks", "modules"];

function isOfGit(path: string): boolean {
  return path.startsWith(".git/");
}

/**
 * Read-only each, and every folder on the way to it a mount of its own: a folder with a mount can be renamed, and another
 * one put in its place; a mount cannot.
 */
function protectedSteps(
  root: string,
  writable: readonly string[],
  { protectedPaths, repositories }: WorkspaceFacts,
  stands: readonly string[],
): ViewStep[] {
  const isWritable = (path: string): boolean => writable.some((folder) => isIn(path, folder));
  const present = protectedPaths.filter(({ type }) => type !== "link");
  const places: ProtectedPath[] = [
    ...present,
    ...stands.filter((path) => protectedPart(path) !== null).map((path) => ({ path, type: typeOfStand(path) })),
  ].filter(({ path }) => isWritable(path));
  const pins = new Set(places.flatMap(({ path }) => foldersAbove(path)).concat(repositories));
  return [
    ...[...pins]
      .filter(isWritable)
      .map((path): ViewStep => ({ kind: "write", path: join(root, path), type: "folder" })),
    ...places.map(
      ({ path, type }): ViewStep => ({
        kind: "read",
        path: join(root, path),
        type: type === "file" ? "file" : "folder",
      }),
    ),
  ];
}

function typeOfStand(path: string): "folder" | "file" {
  const [, inGit] = /(?:^|\/)\.git\/(.*)$/i.exec(path) ?? [];
  return inGit === undefined || foldersOfGit.includes(inGit) ? "folder" : "file";
}

function foldersAbove(path: string): string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, i) => segments.slice(0, i + 1).join("/"));
}

interface SweepFacts {
  before: WorkspaceFacts;
  kept: readonly Kept[];
  writable: readonly string[];
}

/** Takes away what has appeared where no agent writes, and puts back what has become another thing. */
async function sweep(root: string, { before, kept, writable }: SweepFacts): Promise<string[]> {
  const known = new Set(before.protectedPaths.map(({ path }) => path));
  const now = await walkWorkspace(root);
  const appeared = now.protectedPaths.filter(
    ({ path }) => !known.has(path) && !isPlaceholder(join(root, path)) && writable.some((folder) => isIn(path, folder)),
  );
  const removed: string[] = [];
  for (const { path } of appeared) if (await takeAway(root, path)) removed.push(path);
  for (const one of kept) if (await restoreKept(root, one)) removed.push(one.path);
  return removed;
}

async function takeAway(root: string, path: string): Promise<boolean> {
  const folder = dirname(path);
  if (folder !== "." && (await leadsElsewhere(root, folder))) return false;
  await rm(join(root, path), { recursive: true, force: true });
  return (await lstat(join(root, path)).catch(() => null)) === null;
}
