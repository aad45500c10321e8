import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Journal, ToolContext, ToolOutcome } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { versionOf } from "../workspace/file-version.ts";
import { type LostFile, stampOf } from "./lost-files.ts";

/** Knows which files of a workspace agents have made themselves, in the content that the files still have. */
export interface CreatedFiles {
  /** The files that no agent has made, or that have another content by now. */
  others(files: readonly LostFile[], workspace: string, context: ToolContext): Promise<LostFile[]>;
  /** Remembers the current content of files. */
  note(workspace: string, paths: readonly string[]): void;
  /** Remembers the files that a call says it has created. */
  noteOutcome(workspace: string, outcome: Pick<ToolOutcome, "changes">): void;
}

const workspacesMax = 200;
const filesMax = 20_000;
/** More files than this are not compared with the journal, because that reads their content. */
const comparedMax = 100;
const comparedBytesMax = 16 * 1024 * 1024;

/**
 * Remembers the files that calls of this process created, and finds those of the run in its journal. After a restart only
 * the journal is left, which does not name the files that commands made.
 */
export function createCreatedFiles(journal: Pick<Journal, "readRun"> | null): CreatedFiles {
  const byWorkspace = new Map<string, Map<string, string>>();
  const stampsOf = (given: string): Map<string, string> => {
    const workspace = realOrSame(given);
    const stamps = byWorkspace.get(workspace) ?? new Map<string, string>();
    byWorkspace.delete(workspace);
    byWorkspace.set(workspace, stamps);
    const oldest = byWorkspace.keys().next().value;
    if (byWorkspace.size > workspacesMax && oldest !== undefined) byWorkspace.delete(oldest);
    return stamps;
  };
  const note = (workspace: string, paths: readonly string[]): void => {
    const stamps = stampsOf(workspace);
    for (const path of paths) {
      stamps.delete(path);
      const stats = statsOf(join(workspace, path));
      if (stats?.isFile()) stamps.set(path, stampOf(stats));
      const oldest = stamps.keys().next().value;
      if (stamps.size > filesMax && oldest !== undefined) stamps.delete(oldest);
    }
  };
  return {
    note,
    noteOutcome(workspace, { changes }) {
      // A patch that moves a file deletes it at its old path: the new one has the user's content.
      const isMove = changes.some(({ kind }) => kind === "deleted");
      if (!isMove)
        note(
          workspace,
          changes.filter(({ kind }) => kind === "created").map(({ path }) => path),
        );
    },
    async others(files, workspace, context) {
      const stamps = stampsOf(workspace);
      const left = files.filter(({ path, stats }) => stamps.get(path) !== stampOf(stats));
      if (journal === null || left.length === 0 || left.length > comparedMax) return left;
      const versions = await createdVersions(journal, context);
      return left.filter(({ path, stats }) => !isVersion(join(workspace, path), stats.size, versions.get(path)));
    },
  };
}

/** The versions of the files that a run has created, after its last change of each. */
async function createdVersions(
  journal: Pick<Journal, "readRun">,
  { session, run }: ToolContext,
): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>();
  for (const text of await journal.readRun(session, run)) {
    const entry = openEntry(text);
    if (entry.kind !== "tool.finished") continue;
    const { changes } = entry.outcome;
    const isMove = changes.some(({ kind }) => kind === "deleted");
    for (const { path, kind, before, after } of changes) {
      const isOwn = (kind === "created" && !isMove) || (before !== null && versions.get(path) === before);
      if (isOwn && after !== null) versions.set(path, after);
      else versions.delete(path);
    }
  }
  return versions;
}

function isVersion(file: string, size: bigint, version: string | undefined): boolean {
  if (version === undefined || size > comparedBytesMax) return false;
  try {
    return versionOf(readFileSync(file)) === version;
  } catch {
    return false;
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function statsOf(path: string) {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}
