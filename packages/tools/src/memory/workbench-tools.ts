import { RunFailure, type ToolContext } from "@troupe/core";
import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { changeFiles } from "../workspace/change-files.ts";
import { readHeldFile, versionOf } from "../workspace/file-version.ts";
import { checkMayChange } from "../workspace/may-change.ts";
import { readWorkspaceFile, resolvePath } from "../workspace/resolve-path.ts";
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
      const { bytes, real: shown } = await readWorkspaceFile(context.workspace, local_path, {
        bytesMax: workbenchBytesMax,
      });
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
      "Fetches a file from the session's workbench into the workspace, or one that stands among the artifacts of an agent " +
      "that you have asked (by its name, or the beginning of its ref), under a name that is not taken. Folders on the way " +
      "are created. With session_id it comes from another session of this workspace.",
    input: z.strictObject({ remote_path: remotePathField, local_path: localPathField, session_id: sessionField }),
    risk: "medium",
    effect: "idempotent",
    groups: ["memory"],
    async run({ remote_path, local_path, session_id }, context) {
      const { bytes, uploaded } = await workbench.get(remote_path, context, session_id);
      const { shown, isNew } = await writeNewFile(local_path, Buffer.from(bytes), context);
      return {
        output: `Downloaded ${uploaded.name} to ${shown}: ${bytes.byteLength} bytes.`,
        filesCreated: isNew ? [shown] : [],
      };
    },
  });
}

/**
 * Writes a file that is not there yet; one with the same content is as good. Another is left alone: what it holds may be
 * somebody's work, which the run that fetches has never seen.
 */
async function writeNewFile(path: string, bytes: Buffer, { workspace, grant, signal }: ToolContext) {
  await using place = await resolvePath(workspace, path);
  const { shown, found } = place;
  checkMayChange(place, grant.writes);
  if (found.kind !== "file") {
    if (place.missing.length === 0) throw failure(`${shown} was not written: it is no file`);
    await changeFiles([{ path: place, before: null, after: bytes }], { signal });
    return { shown, isNew: true };
  }
  const there = await readHeldFile(found.file, workbenchBytesMax);
  if (there?.version === versionOf(bytes)) return { shown, isNew: false };
  throw failure(`${shown} was not written: a file with another content is there; choose another local_path`);
}

function failure(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
