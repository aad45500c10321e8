import { z } from "zod";
import type { Tool } from "../define-tool.ts";
import { failure } from "../workspace/workspace-path.ts";
import { applyHunks, textOfNew } from "./apply-hunks.ts";
import type { FileChangeRequest } from "./file-plan.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { createWriter, named } from "./file-writer.ts";
import { contentCharactersMax } from "./inputs.ts";
import { type FilePatch, parsePatch } from "./parse-patch.ts";
import { binaryKind, decodeText, encodeText } from "./text-file.ts";

const filesMax = 100;

/** Changes several files as one. */
export function createApplyPatchTool(room: FileToolDeps): Tool {
  return createWriter(
    {
      name: "apply_patch",
      description:
        "Changes, makes, deletes and moves files of the workspace by one patch: all of it, or nothing. It takes unified " +
        'differences and the form "*** Begin Patch", with "*** Update File: path", "*** Add File: path", "*** Delete ' +
        'File: path" and @@ before each hunk. The old lines have to be exact; read the files first.',
      input: z.strictObject({
        patch: z.string().min(1).max(contentCharactersMax).describe("The whole patch; paths relative to the workspace"),
      }),
      wishes: ({ patch }) => {
        const files = parsePatch(patch);
        if (files.length > filesMax)
          throw failure("params", `the patch has ${files.length} files; ${filesMax} are the most`);
        return files.flatMap(wishesOf);
      },
      say: (_args, files) => {
        const lines = files.map(
          (file) => `\n${file.after === null ? "D" : file.before === null ? "A" : "M"} ${named(file)}`,
        );
        const notes = files.flatMap((file) => file.notes.map((note) => `\n${note}`));
        return `Applied the patch:${lines.join("")}${notes.join("")}`;
      },
    },
    room,
  );
}

function wishesOf({ kind, path, movedTo, hunks }: FilePatch): FileChangeRequest[] {
  const changed = (now: Buffer | null, shown: string, notes: string[]): Buffer => patched(now, { hunks, shown, notes });
  switch (kind) {
    case "add":
      return [{ path, make: (now, shown) => added(now, hunks, shown) }];
    case "delete":
      return [{ path, make: (now, shown) => deleted(now, shown) }];
    case "update":
      if (movedTo === null) return [{ path, make: changed }];
      return [
        { path, make: (now, shown) => deleted(now, shown) },
        { path: movedTo, from: path, make: changed },
      ];
  }
}

function added(now: Buffer | null, hunks: FilePatch["hunks"], shown: string): Buffer {
  if (now !== null) throw failure("params", `nothing was changed: ${shown} is to be added, and is there already`);
  return Buffer.from(textOfNew(hunks));
}

function deleted(now: Buffer | null, shown: string): null {
  if (now === null) throw missing(shown);
  return null;
}

function patched(
  now: Buffer | null,
  { hunks, shown, notes }: { hunks: FilePatch["hunks"]; shown: string; notes: string[] },
): Buffer {
  if (now === null) throw missing(shown);
  const file = decodeText(now);
  if (file === null) throw failure("params", `nothing was changed: ${shown} is ${binaryKind(now)}`);
  return encodeText(applyHunks(file.text, hunks, shown, notes), file, shown);
}

function missing(shown: string) {
  return failure("params", `nothing was changed: there is no ${shown}`);
}
