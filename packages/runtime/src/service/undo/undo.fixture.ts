import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtempDisposable, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, type EntryBody, type RunRow, type SessionDetail, ToolOutcome } from "@troupe/core";
import { type FileChange, sampleRun, sampleSession, UndoRequest } from "@troupe/core/internal";
import { createCountingIds, createMemoryBlobs } from "@troupe/core/memory";
import { createFileRestorer } from "@troupe/tools";
import { test } from "vitest";
import type { z } from "zod";
import {
  createIdleDeps,
  type IdleDeps,
  openRun,
  requestOf,
  requestSession,
  root,
  session,
  settled,
} from "../service.fixture.ts";
import { createUndo } from "./undo.ts";

/** A call of a run, as a test writes it. */
export interface TestCall {
  step: number;
  tool?: string;
  outcome: z.input<typeof ToolOutcome>;
}

export interface UndoSite {
  folder: string;
  blobs: Blobs;
  deps: IdleDeps;
  rows: RunRow[];
  /** Adds a settled run with these calls to the session. */
  addRun(calls: readonly TestCall[], request?: Parameters<typeof requestOf>[0], end?: EntryBody[]): Promise<void>;
  undo(request?: z.input<typeof UndoRequest>, run?: string): ReturnType<ReturnType<typeof createUndo>["undo"]>;
  /** Stores a content and returns its hash. */
  put(text: string): Promise<string>;
}

interface Fixtures {
  site: UndoSite;
}

/** A test with a workspace, a session in a journal, and real restores. */
export const undoTest = test.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  site: async ({}, use) => {
    await using made = await mkdtempDisposable(join(await realpath(tmpdir()), "troupe-undo-"));
    const folder = join(made.path, "work");
    await mkdir(folder);
    await use(await createSite(folder));
  },
});

async function createSite(folder: string): Promise<UndoSite> {
  const blobs = createMemoryBlobs();
  const deps = await createIdleDeps();
  const rows: RunRow[] = [];
  await requestSession(deps, requestOf({ workspace: { id: "w1", path: folder } }));
  const detail = (): SessionDetail => ({
    position: 1,
    session: sampleSession({ session, rootRun: root }),
    runs: rows,
    approvals: [],
  });
  const record = {
    run: async (run: string) => rows.find((row) => row.run === run) ?? null,
    approval: async () => null,
    session: async () => detail(),
    entries: async () => [],
    onChange: () => () => {},
  };
  const { undo } = createUndo({ deps, ids: createCountingIds(), record, restorer: createFileRestorer({ blobs }) });
  return {
    ...{ folder, blobs, deps, rows },
    async addRun(calls, request = {}, end) {
      const whole = requestOf({ workspace: { id: "w1", path: folder }, ...request });
      const finished = calls.map(
        ({ step, tool = "write", outcome }, call): EntryBody => ({
          ...{ kind: "tool.finished", step, call, tool },
          outcome: ToolOutcome.parse(outcome),
        }),
      );
      await openRun(deps, whole, [...finished, ...(end ?? [settled(whole.run)])]);
      const completedAt = end ? null : "2026-01-01T00:00:00.000Z";
      const { run, agent, parent } = whole;
      rows.push(sampleRun({ run, session, agent, parentRun: parent?.run ?? null, completedAt, host: "daemon-a" }));
    },
    undo: (request = {}, run = root) => undo(run, UndoRequest.parse(request)),
    put: (text) => blobs.put(Buffer.from(text)),
  };
}

export function hash(text: string | null): string | null {
  return text === null ? null : createHash("sha256").update(text).digest("hex");
}

/** A recorded change between two contents. Its old content counts as kept, unless `more` says otherwise. */
export function changed(
  path: string,
  before: string | null,
  after: string | null,
  more: Partial<FileChange> = {},
): FileChange {
  const kind = before === null ? "created" : after === null ? "deleted" : "modified";
  const content = before === null || more.unkept !== undefined ? {} : { beforeRef: hash(before) as string };
  const base = { path, before: hash(before), after: hash(after), kind, diff: "", diffRef: null } as const;
  return { ...base, linesAdded: 0, linesRemoved: 0, ...content, ...more };
}

/** A change as earlier versions recorded it. */
export function withoutContent({ beforeRef: _, ...change }: FileChange): FileChange {
  return change;
}

/** Every entry of a folder, with its bits and its content. */
export async function treeOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const entries = names.map(async (name): Promise<[string, string]> => {
    const at = join(folder, name);
    const stats = await lstat(at);
    if (stats.isSymbolicLink()) return [name, `link ${await readlink(at)}`];
    if (stats.isDirectory()) return [name, "folder"];
    return [name, `${(stats.mode & 0o777).toString(8)} ${await readFile(at, "utf8")}`];
  });
  return Object.fromEntries(await Promise.all(entries));
}
