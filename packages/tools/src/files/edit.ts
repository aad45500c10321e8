import { z } from "zod";
import type { Tool } from "../define-tool.ts";
import { failure } from "../workspace/workspace-path.ts";
import { applyEdits, type Edit } from "./apply-edits.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { createWriter, named } from "./file-writer.ts";
import { contentCharactersMax, pathField, versionField } from "./inputs.ts";
import { binaryKind, decodeText, encodeText } from "./text-file.ts";

const text = z.string().max(contentCharactersMax);
const old = text.describe("The text to replace, exactly as it stands in the file, with enough around it to be unique");
const replacement = text.describe("What takes its place");
const all = z.boolean().default(false).describe("Replace it everywhere, instead of at the one place where it is");

const editsMax = 100;

/** Replaces exact texts of a file. */
export function createEditTool(room: FileToolDeps): Tool {
  return createWriter(
    {
      name: "edit",
      description:
        "Replaces an exact text in a file of the workspace: old has to be there exactly once, unless all is set. Give " +
        "old and new, or edits for several changes that are made in order, as one. Read the file first. Line ends " +
        "and encoding stay as they are.",
      input: z.strictObject({
        path: pathField,
        old: old.optional(),
        new: replacement.optional(),
        all: all.optional(),
        edits: z
          .array(z.strictObject({ old, new: replacement, all }))
          .min(1)
          .max(editsMax)
          .optional()
          .describe("Several changes; each sees what those before it have made"),
        version: versionField,
      }),
      wishes: (args) => {
        const edits = editsOf(args);
        return [{ path: args.path, version: args.version, make: (now, shown) => edited(now, edits, shown) }];
      },
      say: (args, [file]) => {
        const count = editsOf(args).length;
        return `Edited ${file ? named(file) : args.path}${count > 1 ? `: ${count} changes` : ""}`;
      },
    },
    room,
  );
}

interface EditArguments {
  old?: string | undefined;
  new?: string | undefined;
  all?: boolean | undefined;
  edits?: Edit[] | undefined;
}

function editsOf({ old: from, new: to, all: everywhere = false, edits }: EditArguments): Edit[] {
  if (edits && from === undefined && to === undefined) return edits;
  if (!edits && from !== undefined && to !== undefined) return [{ old: from, new: to, all: everywhere }];
  throw failure("params", "give either old and new, or edits");
}

function edited(now: Buffer | null, edits: readonly Edit[], shown: string): Buffer {
  if (now === null) throw failure("params", `${shown} was not changed: there is no such file; make it with write`);
  const file = decodeText(now);
  if (file === null) throw failure("params", `${shown} was not changed: it is ${binaryKind(now)}`);
  return encodeText(applyEdits(file.text, edits, shown), file, shown);
}
