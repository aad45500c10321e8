import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { failure } from "../workspace/workspace-path.ts";
import { applyHunks, textOfNewFile } from "./apply-hunks.ts";
import type { FileChangeRequest } from "./file-plan.ts";
import { contentCharactersMax, type FileToolDeps } from "./file-tool-deps.ts";
import { createFileWriter, nameWithVersion } from "./file-writer.ts";
import { type FilePatch, parsePatch } from "./parse-patch.ts";
import { binaryKind, decodeText, encodeText } from "./text-file.ts";

const filesMax = 100;

/** Applies a patch to several files, all or none. */
export function createApplyPatchTool(deps: FileToolDeps): Tool {
  return createFileWriter(
    {
      name: "apply_patch",
      description:
        'Changes, creates, deletes and moves files with one patch, all or none: a unified diff, or "*** Begin ' +
        'Patch" with "*** Update File: path", "*** Add File: path", "*** Delete File: path" and @@ before each ' +
        "hunk. Old lines must match exactly. Read the files first.",
      input: z.strictObject({
        patch: z.string().min(1).max(contentCharactersMax),
      }),
      requests: ({ patch }) => {
        const files = parsePatch(patch);
        if (files.length > filesMax)
          throw failure("params", `the patch has ${files.length} files; the maximum is ${filesMax}`);
        return files.flatMap(requestsFor);
      },
      summarize: (_args, files) => {
        const lines = files.map(
          (file) => `\n${file.after === null ? "D" : file.before === null ? "A" : "M"} ${nameWithVersion(file)}`,
        );
        const notes = files.flatMap((file) => file.notes.map((note) => `\n${note}`));
        return `Applied the patch:${lines.join("")}${notes.join("")}`;
      },
    },
    deps,
  );
}

function requestsFor({ kind, path, movedTo, hunks }: FilePatch): FileChangeRequest[] {
  const update = (current: Buffer | null, shown: string, notes: string[]): Buffer =>
    patched(current, { hunks, shown, notes });
  switch (kind) {
    case "add":
      return [{ path, make: (current, shown) => added(current, hunks, shown) }];
    case "delete":
      return [{ path, make: (current, shown) => deleted(current, shown) }];
    case "update":
      if (movedTo === null) return [{ path, make: update }];
      return [
        { path, make: (current, shown) => deleted(current, shown) },
        { path: movedTo, from: path, make: update },
      ];
  }
}

function added(current: Buffer | null, hunks: FilePatch["hunks"], shown: string): Buffer {
  if (current !== null) throw failure("params", `nothing was changed: the patch adds ${shown}, which is already there`);
  return Buffer.from(textOfNewFile(hunks));
}

function deleted(current: Buffer | null, shown: string): null {
  if (current === null) throw missing(shown);
  return null;
}

function patched(
  current: Buffer | null,
  { hunks, shown, notes }: { hunks: FilePatch["hunks"]; shown: string; notes: string[] },
): Buffer {
  if (current === null) throw missing(shown);
  const file = decodeText(current);
  if (file === null) throw failure("params", `nothing was changed: ${shown} is ${binaryKind(current)}`);
  return encodeText(applyHunks(file.text, hunks, shown, notes), file, shown);
}

function missing(shown: string) {
  return failure("params", `nothing was changed: ${shown} does not exist`);
}
