import { type Journal, RunFailure, type ToolContext } from "@troupe/core";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { stateBefore } from "../files/content-before.ts";
import { checkCorpusOrder } from "../files/corpus-order.ts";
import { executableConsent } from "../files/executable-consent.ts";
import { changesOf, type RecordedFile } from "../files/file-changes.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { refuseBareRepositories } from "../workspace/bare-repository.ts";
import { changeFiles } from "../workspace/change-files.ts";
import { readHeldFile, versionOf } from "../workspace/file-version.ts";
import { checkMayChange, writeConsent } from "../workspace/protected-paths.ts";
import { locatePath, readWorkspaceFile, resolvePath } from "../workspace/resolve-path.ts";
import { remotePathField, sessionField, type Workbench, workbenchBytesMax } from "./workbench.ts";

const localPathField = z.string().min(1);

/** Shares a file of the workspace with all runs of the session. */
export function createUploadTool(workbench: Workbench): Tool {
  return defineTool({
    name: "workbench_upload",
    description:
      "Uploads a file to the session's workbench, where every agent of the session can download it. Your answer " +
      "lists it as an artifact.",
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

/** Downloads a shared file into the workspace. */
export function createDownloadTool(
  workbench: Workbench,
  {
    sandbox,
    journal = null,
  }: { sandbox?: Pick<Sandbox, "contains"> | undefined; journal?: Pick<Journal, "readRun"> | null } = {},
): Tool {
  return defineTool({
    name: "workbench_download",
    description:
      "Downloads a file from the session's workbench, or an artifact of an agent that you have asked (by its name " +
      "or the beginning of its ref). local_path must not exist yet.",
    input: z.strictObject({ remote_path: remotePathField, local_path: localPathField, session_id: sessionField }),
    risk: "medium",
    effect: "idempotent",
    groups: ["memory"],
    consent: ({ local_path }, { workspace }) =>
      writeConsent([local_path], workspace) ??
      executableConsent([{ path: local_path, make: () => null }], workspace, sandbox),
    async run({ remote_path, local_path, session_id }, context) {
      const { bytes, uploaded } = await workbench.get(remote_path, context, session_id);
      await checkCorpusOrder([(await locatePath(context.workspace, local_path)).real], context, journal);
      const { shown, change } = await writeNewFile(local_path, Buffer.from(bytes), context);
      return {
        output: `Downloaded ${uploaded.name} to ${shown}: ${bytes.byteLength} bytes.`,
        filesCreated: change ? [shown] : [],
        changes: change ? await changesOf([change]) : [],
      };
    },
  });
}

/**
 * Writes a file that does not exist yet. A file with the same content counts as written. It does not overwrite a file with
 * other content, because the run has not seen that content.
 */
async function writeNewFile(
  path: string,
  bytes: Buffer,
  { workspace, grant, signal }: ToolContext,
): Promise<{ shown: string; change: RecordedFile | null }> {
  await using resolved = await resolvePath(workspace, path);
  const { shown, real, found } = resolved;
  checkMayChange(resolved, grant.writes);
  await refuseBareRepositories([resolved]);
  if (found.kind !== "file") {
    if (resolved.missing.length === 0) throw failure(`${shown} was not written: it is not a file`);
    await changeFiles([{ path: resolved, before: null, after: bytes }], { signal });
    const after = { bytes, version: versionOf(bytes) };
    return { shown, change: { real, before: null, after, state: stateBefore(resolved), saved: {} } };
  }
  const existing = await readHeldFile(found.file, workbenchBytesMax);
  if (existing?.version === versionOf(bytes)) return { shown, change: null };
  throw failure(`${shown} was not written: it exists with other content; choose another local_path`);
}

function failure(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
