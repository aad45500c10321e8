import { type Blobs, type Clock, type Journal, RunFailure, type ToolContext } from "@troupe/core";
import { Id, nearestNames, openEntry } from "@troupe/core/internal";
import { z } from "zod";
import { openMemoryFiles, workspaceKey } from "./memory-files.ts";

/** No larger file goes over the workbench. */
export const workbenchBytesMax = 16 * 1024 * 1024;
const filesMax = 1_000;

const Uploaded = z.object({
  name: z.string(),
  ref: z.string(),
  bytes: z.int().nonnegative(),
  workspace: z.string(),
  run: z.string(),
  at: z.iso.datetime(),
});
export type Uploaded = z.infer<typeof Uploaded>;

export const remotePathField = z
  .string()
  .min(1)
  .max(1_000)
  .refine((name) => !name.includes("\0"), "it has a NUL character in it")
  .describe("Its name on the workbench, such as report/index.html");

export const sessionField = Id.optional().describe("A session of this workspace. Default: your own");

/** What the runs of a session have put where the others can fetch it: names, and by hash what they stand for. */
export interface Workbench {
  put(name: string, bytes: Uint8Array, context: ToolContext, session?: string): Promise<Uploaded>;
  /** Throws a `RunFailure` for what is not there, or is of another workspace: the two cannot be told apart. */
  get(name: string, context: ToolContext, session?: string): Promise<{ uploaded: Uploaded; bytes: Uint8Array }>;
}

export interface WorkbenchOptions {
  memoryFolder: string;
  /** Where a run finds what its children have handed to it. */
  journal: Pick<Journal, "readRun">;
  blobs: Pick<Blobs, "get" | "put">;
  clock: Clock;
}

/**
 * The workbench of this machine. A session's is written by its own runs alone, and read by those of every session of the
 * same workspace that name it.
 */
export function createWorkbench({ memoryFolder, journal, blobs, clock }: WorkbenchOptions): Workbench {
  const files = openMemoryFiles(memoryFolder, Uploaded);
  const placeOf = (session: string): string[] => ["workbench", session];

  return {
    async put(name, bytes, context, session = context.session) {
      if (session !== context.session) {
        throw failure("permission", "a session's workbench is written by its own runs: leave session_id out");
      }
      const place = placeOf(session);
      const isNew = (await files.get(place, name)) === null;
      if (isNew && (await files.count(place)) >= filesMax) {
        throw failure("params", `the workbench of this session holds ${filesMax} files, which is the most`);
      }
      const ref = await blobs.put(bytes);
      const at = new Date(clock.now()).toISOString();
      const workspace = await workspaceKey(context.workspace);
      const uploaded = { name, ref, bytes: bytes.byteLength, workspace, run: context.run, at };
      await files.put(place, name, uploaded);
      return uploaded;
    },

    async get(name, context, session = context.session) {
      const workspace = await workspaceKey(context.workspace);
      const isOurs = (uploaded: Uploaded): boolean => session === context.session || uploaded.workspace === workspace;
      const put = await files.get(placeOf(session), name);
      const handed = session === context.session ? await readHanded(journal, context) : [];
      const uploaded = put && isOurs(put) ? put : handedAs(name, handed, workspace);
      if (uploaded === null) {
        const names = (await files.all(placeOf(session))).filter(isOurs).map((each) => each.name);
        const all = [...new Set([...names, ...handed.map((each) => each.name)])];
        throw failure("params", `nothing is called ${JSON.stringify(name)} on the workbench; ${hintFor(name, all)}`);
      }
      const bytes = await blobs.get(uploaded.ref);
      if (bytes === null) throw failure("tool_error", `the content of ${JSON.stringify(name)} is not kept any more`);
      return { uploaded, bytes };
    },
  };
}

/** Something that an agent which a run has asked has handed back to it. */
interface Handed {
  name: string;
  ref: string;
  run: string;
  at: number;
}

/** What a run was handed by its children, the newest first: files of folders of their own, which no index knows. */
async function readHanded(journal: Pick<Journal, "readRun">, { session, run }: ToolContext): Promise<Handed[]> {
  const handed: Handed[] = [];
  for (const text of await journal.readRun(session, run)) {
    if (!text.includes('"child.settled"')) continue;
    const entry = openEntry(text);
    if (entry.kind !== "child.settled") continue;
    const { artifacts, runId } = entry.response;
    handed.unshift(...artifacts.map(({ name, ref }) => ({ name, ref, run: runId, at: entry.at })));
  }
  // What is no hash of bytes is no file: a branch, say.
  return handed.filter(({ ref }) => /^[0-9a-f]{64}$/.test(ref));
}

/** By its name, or, of several of one name, by the beginning of its reference. */
function handedAs(name: string, handed: readonly Handed[], workspace: string): Uploaded | null {
  const isNamed = (each: Handed): boolean => each.name === name || (name.length >= 12 && each.ref.startsWith(name));
  const found = handed.find(isNamed);
  return found ? { ...found, bytes: 0, workspace, at: new Date(found.at).toISOString() } : null;
}

const namesShown = 20;

function hintFor(name: string, names: readonly string[]): string {
  if (names.length === 0) return "there is nothing on it";
  const near = nearestNames(name, names);
  if (near.length > 0) return `did you mean ${near.join(", ")}?`;
  return `there are: ${names.slice(0, namesShown).join(", ")}${names.length > namesShown ? ", …" : ""}`;
}

function failure(type: "params" | "permission" | "tool_error", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
