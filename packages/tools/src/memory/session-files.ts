import { type Blobs, TroupeError } from "@troupe/core";
import { type SessionFileRow, type SessionFiles, sessionFileBytesMax } from "@troupe/core/internal";
import {
  openWorkbenchStore,
  type UploadedFile,
  type WorkbenchStoreOptions,
  workbenchFilesMax,
} from "./workbench-store.ts";

export interface SessionFilesOptions extends WorkbenchStoreOptions {
  blobs: Pick<Blobs, "get" | "put">;
  /** The folder of a session. Null: the session is unknown. */
  workspaceOf(session: string): Promise<string | null>;
}

/**
 * Opens the workbenches of this machine for people. The runs of a session can download the files of people, and people the
 * files of runs.
 *
 * @example
 * const files = createSessionFiles({ memoryFolder: "/tmp/memory", blobs, clock, workspaceOf: async () => "/my/project" });
 * await files.put(session, { name: "logo.png", bytes, by: "ada" });
 */
export function createSessionFiles(options: SessionFilesOptions): SessionFiles {
  const { blobs, workspaceOf } = options;
  const store = openWorkbenchStore(options);
  const findWorkspace = async (session: string): Promise<string> => {
    const workspace = await workspaceOf(session);
    if (workspace !== null) return workspace;
    throw new TroupeError("UNKNOWN_SESSION", `the session ${JSON.stringify(session)} is unknown`, {
      fix: "troupe sessions ls",
    });
  };
  return {
    async list(session) {
      await findWorkspace(session);
      const rows = (await store.list(session)).map(rowOf);
      return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async put(session, { name, bytes, by }) {
      const workspace = await findWorkspace(session);
      if (bytes.byteLength > sessionFileBytesMax) throw tooLarge(name, bytes.byteLength);
      const uploaded = await store.put({ session, name, bytes, workspace }, { by });
      if (uploaded !== null) return rowOf(uploaded);
      throw new TroupeError("LIMIT_REACHED", `the session has ${workbenchFilesMax} files, which is the maximum`, {
        fix: `replace a file by its name: troupe sessions files ${session}`,
      });
    },
    async get(session, name) {
      await findWorkspace(session);
      const uploaded = await store.find(session, name);
      const bytes = uploaded && (await blobs.get(uploaded.ref));
      if (uploaded && bytes) return { name: uploaded.name, sha256: uploaded.ref, bytes };
      const why = uploaded ? "its content is no longer stored" : "the session has no file with this name";
      throw new TroupeError("UNKNOWN_FILE", `cannot read the file ${JSON.stringify(name)}: ${why}`, {
        fix: `troupe sessions files ${session}`,
      });
    },
  };
}

function rowOf({ name, bytes, ref, run, by, at }: UploadedFile): SessionFileRow {
  return { name, bytes, sha256: ref, run, by, at };
}

function tooLarge(name: string, bytes: number): TroupeError {
  const message = `the file ${JSON.stringify(name)} has ${bytes} bytes, and the limit is ${sessionFileBytesMax}`;
  return new TroupeError("TOO_LARGE", message, { fix: "split the file, or put it into the folder of the session" });
}
