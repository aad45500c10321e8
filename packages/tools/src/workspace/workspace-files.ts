import { RunFailure } from "@troupe/core";
import { changeFiles, FileChangedError } from "./change-files.ts";
import { versionOf } from "./file-version.ts";
import { checkMayChange } from "./protected-paths.ts";
import { readWorkspaceFile, resolvePath } from "./resolve-path.ts";

/** Files of workspaces, for programs that work beside the runs. Paths, links and protected files are as for tools. */
export interface WorkspaceFiles {
  /** The text of a file. Null if there is none. */
  read(workspace: string, path: string): Promise<string | null>;
  /** Writes a file if its text is still `before` (null: there is no file). Returns false if it has changed meanwhile. */
  replace(workspace: string, path: string, text: string, before: string | null): Promise<boolean>;
}

/**
 * @example
 * const files = createWorkspaceFiles();
 * await files.replace("/work", "search_results/a.json", "{}\n", null); // true
 */
export function createWorkspaceFiles(): WorkspaceFiles {
  const { signal } = new AbortController();
  return {
    async read(workspace, path) {
      await using resolved = await resolvePath(workspace, path);
      if (resolved.found.kind === "missing") return null;
      return (await readWorkspaceFile(workspace, path)).bytes.toString("utf8");
    },
    async replace(workspace, path, text, before) {
      await using resolved = await resolvePath(workspace, path);
      checkMayChange(resolved, []);
      if (resolved.found.kind === "folder" || resolved.found.kind === "special") throw noFile(resolved.shown);
      const version = before === null ? null : versionOf(Buffer.from(before));
      try {
        await changeFiles([{ path: resolved, before: version, after: Buffer.from(text) }], { signal });
        return true;
      } catch (error) {
        if (error instanceof FileChangedError) return false;
        throw error;
      }
    },
  };
}

function noFile(shown: string): RunFailure {
  return new RunFailure({ type: "params", message: `${shown} is not a file`, recoverable: false });
}
