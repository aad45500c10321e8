import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { mayWrite, RunFailure, type ToolContext } from "@troupe/core";
import { z } from "zod";
import { writeFileAtomic } from "../../files/atomic-write.ts";
import { protectedPart } from "../../workspace/protected-paths.ts";
import { codeOf, fileFailure, resolveInWorkspace, type WorkspacePath } from "../../workspace/workspace-path.ts";
import { defineTool, type Tool } from "../define-tool.ts";
import { remotePathField, sessionField, type Workbench, workbenchBytesMax } from "./workbench.ts";

const localPathField = z.string().min(1).describe("Path relative to the workspace");

/** Puts a file of the workspace where all runs of the session can fetch it. */
export function createUploadTool(workbench: Workbench): Tool {
  return defineTool({
    name: "workbench_upload",
    description:
      "Puts a file of the workspace on the session's workbench under a name, where every agent of the session can fetch " +
      "it, also from another workspace. The name is listed among the artifacts of your answer.",
    input: z.strictObject({ local_path: localPathField, remote_path: remotePathField, session_id: sessionField }),
    risk: "low",
    effect: "idempotent",
    groups: ["memory"],
    async run({ local_path, remote_path, session_id }, context) {
      const { bytes, shown } = await readWorkspaceFile(local_path, context);
      const { ref } = await workbench.put(remote_path, bytes, context, session_id);
      return {
        output: `Uploaded ${shown} as ${remote_path}: ${bytes.byteLength} bytes, version ${ref.slice(0, 12)}.`,
        artifacts: [{ name: remote_path, ref }],
      };
    },
  });
}

/** Fetches what somebody of the session has put on the workbench. */
export function createDownloadTool(workbench: Workbench): Tool {
  return defineTool({
    name: "workbench_download",
    description:
      "Fetches a file from the session's workbench into the workspace, in place of what is there. Folders on the way are " +
      "created. With session_id it comes from another session of this workspace.",
    input: z.strictObject({ remote_path: remotePathField, local_path: localPathField, session_id: sessionField }),
    risk: "medium",
    effect: "idempotent",
    groups: ["memory"],
    async run({ remote_path, local_path, session_id }, context) {
      const { bytes, uploaded } = await workbench.get(remote_path, context, session_id);
      const { shown, isNew } = await writeWorkspaceFile(local_path, bytes, context);
      return {
        output: `Downloaded ${uploaded.name} to ${shown}: ${bytes.byteLength} bytes.`,
        [isNew ? "filesCreated" : "filesModified"]: [shown],
      };
    },
  });
}

async function readWorkspaceFile(path: string, { workspace }: ToolContext): Promise<{ bytes: Buffer; shown: string }> {
  const place = await resolveInWorkspace(workspace, path);
  const { absolute, shown } = place;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    await using file = await open(absolute, flags);
    const stats = await file.stat();
    if (!stats.isFile()) throw failure("params", `${shown} was not uploaded: it is no regular file`);
    if (stats.size > workbenchBytesMax) {
      throw failure("params", `${shown} was not uploaded: its ${stats.size} bytes are over ${workbenchBytesMax}`);
    }
    return { bytes: await file.readFile(), shown };
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw failure("params", `${shown} was not uploaded: there is no such file`);
    throw error instanceof RunFailure ? error : fileFailure(error, shown);
  }
}

async function writeWorkspaceFile(path: string, bytes: Uint8Array, { workspace, grant }: ToolContext) {
  const place = await resolveInWorkspace(workspace, path);
  const { absolute, shown } = place;
  if (protectedPart(shown) !== null) throw failure("permission", `${shown} was not written: it is protected`);
  if (!mayWrite(grant.writes, shown))
    throw failure("permission", `${shown} was not written: it may not be written by you`);
  try {
    const existing = await existingFile(place);
    await mkdir(dirname(absolute), { recursive: true });
    await writeFileAtomic(absolute, bytes, existing ? { mode: existing.mode & 0o7777 } : {});
    return { shown, isNew: existing === null };
  } catch (error) {
    throw error instanceof RunFailure ? error : fileFailure(error, shown);
  }
}

async function existingFile({ absolute, isLink, shown }: WorkspacePath): Promise<Stats | null> {
  const stats = await lstat(absolute).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return null;
  if (isLink || !stats.isFile() || stats.nlink > 1) {
    throw failure("permission", `${shown} was not written: it is no regular file of one name`);
  }
  return stats;
}

function failure(type: "params" | "permission", message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: false });
}
