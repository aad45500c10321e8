import { type Blobs, type Clock, type Journal, RunFailure, type ToolContext } from "@troupe/core";
import { Id, nearestNames, openEntry, SessionFileName, sessionFileBytesMax } from "@troupe/core/internal";
import { workspaceKey } from "./memory-files.ts";
import { openWorkbenchStore, type UploadedFile, workbenchFilesMax } from "./workbench-store.ts";

/** Size limit of a file. */
export const workbenchBytesMax = sessionFileBytesMax;

export const remotePathField = SessionFileName.describe("Name on the workbench");

export const sessionField = Id.optional().describe("Another session of this workspace");

/** The shared files of a session: names, with the hash of their content. */
export interface Workbench {
  put(name: string, bytes: Uint8Array, context: ToolContext, session?: string): Promise<UploadedFile>;
  /** Throws the same `RunFailure` for a missing file and for a file of another workspace. */
  get(name: string, context: ToolContext, session?: string): Promise<{ uploaded: UploadedFile; bytes: Uint8Array }>;
}

export interface WorkbenchOptions {
  memoryFolder: string;
  /** Tells the artifacts that a run got from its children. */
  journal: Pick<Journal, "readRun">;
  blobs: Pick<Blobs, "get" | "put">;
  clock: Clock;
}

/**
 * Creates the workbenches of this machine for runs. Of all runs, only those of a session write to its workbench. Runs of
 * other sessions of the same workspace can read it by the session id. People write to it with `createSessionFiles`.
 */
export function createWorkbench({ memoryFolder, journal, blobs, clock }: WorkbenchOptions): Workbench {
  const store = openWorkbenchStore({ memoryFolder, blobs, clock });

  return {
    async put(name, bytes, context, session = context.session) {
      if (session !== context.session) {
        throw failure("permission", "only runs of a session can write to its workbench: leave session_id out");
      }
      const { workspace, run } = context;
      const uploaded = await store.put({ session, name, bytes, workspace }, { run });
      if (uploaded !== null) return uploaded;
      throw failure("params", `the workbench of this session has ${workbenchFilesMax} files, which is the maximum`);
    },

    async get(name, context, session = context.session) {
      const workspace = await workspaceKey(context.workspace);
      const isReadable = (uploaded: UploadedFile): boolean =>
        session === context.session || uploaded.workspace === workspace;
      const put = await store.find(session, name);
      const artifacts = session === context.session ? await readArtifacts(journal, context) : [];
      const uploaded = put && isReadable(put) ? put : findArtifact(name, artifacts, workspace);
      if (uploaded === null) {
        const names = (await store.list(session)).filter(isReadable).map((each) => each.name);
        const all = [...new Set([...names, ...artifacts.map((each) => each.name)])];
        throw failure("params", `the workbench has no file ${JSON.stringify(name)}; ${hintFor(name, all)}`);
      }
      const bytes = await blobs.get(uploaded.ref);
      if (bytes === null) throw failure("tool_error", `the content of ${JSON.stringify(name)} is no longer stored`);
      return { uploaded, bytes };
    },
  };
}

/** An artifact in the response of a child run. */
interface ChildArtifact {
  name: string;
  ref: string;
  run: string;
  at: number;
}

/** The artifacts that the children of a run returned, newest first. No index lists them. */
async function readArtifacts(
  journal: Pick<Journal, "readRun">,
  { session, run }: ToolContext,
): Promise<ChildArtifact[]> {
  const found: ChildArtifact[] = [];
  for (const text of await journal.readRun(session, run)) {
    if (!text.includes('"child.settled"')) continue;
    const entry = openEntry(text);
    if (entry.kind !== "child.settled") continue;
    const { artifacts, runId } = entry.response;
    found.unshift(...artifacts.map(({ name, ref }) => ({ name, ref, run: runId, at: entry.at })));
  }
  // A reference that is not a hash is not a file, but a git branch for example.
  return found.filter(({ ref }) => /^[0-9a-f]{64}$/.test(ref));
}

/** Finds an artifact by name, or by the beginning of its reference where several have the same name. */
function findArtifact(name: string, artifacts: readonly ChildArtifact[], workspace: string): UploadedFile | null {
  const isNamed = (each: ChildArtifact): boolean =>
    each.name === name || (name.length >= 12 && each.ref.startsWith(name));
  const found = artifacts.find(isNamed);
  return found ? { ...found, bytes: 0, by: null, workspace, at: new Date(found.at).toISOString() } : null;
}

const namesShown = 20;

function hintFor(name: string, names: readonly string[]): string {
  if (names.length === 0) return "it is empty";
  const near = nearestNames(name, names);
  if (near.length > 0) return `did you mean ${near.join(", ")}?`;
  return `it has: ${names.slice(0, namesShown).join(", ")}${names.length > namesShown ? ", …" : ""}`;
}

function failure(type: "params" | "permission" | "tool_error", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
