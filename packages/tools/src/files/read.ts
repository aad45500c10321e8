import type { ToolContext } from "@troupe/core";
import { z } from "zod";
import { defineTool, type Tool, type ToolResult } from "../define-tool.ts";
import { changedBytesMax } from "../workspace/change-files.ts";
import { readHeld, shortVersion } from "../workspace/file-version.ts";
import type { HeldFile } from "../workspace/open-folder.ts";
import { type ResolvedPath, resolvePath } from "../workspace/resolve-path.ts";
import { failure, fileFailure } from "../workspace/workspace-path.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { listTree } from "./folder-listing.ts";
import { pathField } from "./inputs.ts";
import { missingFile } from "./missing-file.ts";
import { partOf, type TextPart } from "./read-lines.ts";
import { isBinary, streamPart } from "./stream-lines.ts";
import { decodeText, lineEndsOf } from "./text-file.ts";

/** Reads a text file of the workspace, or says what a folder has in it. */
export function createReadTool(room: FileToolDeps): Tool {
  return defineTool({
    name: "read",
    description:
      "Reads a text file of the workspace, or lists a folder. Give the path relative to the workspace. Long files come " +
      "in parts: ask for the next one with offset. The last line, in brackets, is not of the file: it names the part " +
      "and the version.",
    input: z.strictObject({
      path: pathField,
      offset: z.int().min(1).default(1).describe("First line to read, counted from 1"),
      limit: z
        .int()
        .min(1)
        .max(10_000)
        .default(2_000)
        .describe("How many lines to read; with 1, a long line is shown whole"),
    }),
    risk: "low",
    effect: "read",
    groups: ["filesystem"],
    async run({ path, offset, limit }, context) {
      await using place = await resolvePath(context.workspace, path);
      const { found, shown } = place;
      switch (found.kind) {
        case "missing":
          throw await missingFile(place, context.workspace);
        case "special":
          throw unreadable(shown, `it is ${found.what}, and not a regular file`);
        case "folder":
          return { output: await listTree(found.folder, { depth: 1, shown }) };
        case "file":
          // Awaited here: when this scope ends, the file is held no more.
          return await readFile(found.file, { place, part: { offset, limit, shown } }, { context, room });
      }
    },
  });
}

interface Asked {
  place: ResolvedPath;
  part: { offset: number; limit: number; shown: string };
}

async function readFile(
  file: HeldFile,
  { place, part }: Asked,
  { context, room }: { context: ToolContext; room: FileToolDeps },
): Promise<ToolResult> {
  try {
    const content = await readHeld(file, changedBytesMax);
    if (content === null) return { output: withNotes(await streamPart(file, part, context.signal), []) };
    const decoded = decodeText(content.bytes);
    if (decoded === null) throw isBinary(content.bytes, part.shown, content.bytes.length);
    const { text, encoding, hasMark } = decoded;
    room.seen.note(context, place.real, content.version);
    room.recent.put(content.version, text);
    const ends = lineEndsOf(text);
    const notes = [
      ...(ends === "CRLF" ? ["line ends are CRLF"] : ends === "mixed" ? ["line ends are mixed, LF and CRLF"] : []),
      ...(encoding === "UTF-8" ? [] : [`stored as ${encoding}`]),
      ...(hasMark ? ["with a byte order mark"] : []),
      `version ${shortVersion(content.version)}`,
    ];
    return {
      output: withNotes(partOf(text, part), notes),
      seen: [{ path: place.real, version: content.version }],
    };
  } catch (error) {
    throw error instanceof Error && error.name === "RunFailure" ? error : fileFailure(error, part.shown);
  }
}

function withNotes({ text, notes }: TextPart, more: readonly string[]): string {
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}[${[...notes, ...more].join("; ")}]`;
}

function unreadable(shown: string, reason: string) {
  return failure("params", `${shown} cannot be read: ${reason}`);
}
