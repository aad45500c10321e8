import type { ToolContext } from "@troupe/core";
import { defineTool, type Tool, type ToolResult } from "@troupe/core/tool";
import { z } from "zod";
import { changedBytesMax } from "../workspace/change-files.ts";
import { readHeldFile, shortVersion } from "../workspace/file-version.ts";
import type { HeldFile } from "../workspace/open-folder.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { failure, fileFailure } from "../workspace/workspace-path.ts";
import { type FileToolDeps, pathField } from "./file-tool-deps.ts";
import { listFolder } from "./ls.ts";
import { missingFile } from "./missing-file.ts";
import { binaryFailure, type LineRange, readLines, streamLines, type TextExcerpt } from "./read-lines.ts";
import { decodeText, lineEndsOf } from "./text-file.ts";

/** Reads a text file of the workspace, or lists a folder. */
export function createReadTool(deps: FileToolDeps): Tool {
  return defineTool({
    name: "read",
    description:
      "Reads a text file, or lists a folder. A long file comes in parts: continue with offset. The last line, in " +
      "brackets, is not part of the file: it gives the line range and the version.",
    input: z.strictObject({
      path: pathField,
      offset: z.int().min(1).default(1).describe("First line, counted from 1"),
      limit: z.int().min(1).max(10_000).default(2_000).describe("Lines. With 1, a long line is shown whole"),
    }),
    risk: "low",
    effect: "read",
    groups: ["filesystem"],
    async run({ path, offset, limit }, context) {
      await using resolved = await resolvePath(context.workspace, path);
      const { found, shown, real } = resolved;
      switch (found.kind) {
        case "missing":
          throw await missingFile(resolved, context.workspace);
        case "special":
          throw failure("params", `${shown} cannot be read: it is ${found.what}, not a regular file`);
        case "folder":
          return { output: await listFolder(found.folder, { depth: 1, shown }) };
        case "file":
          // Awaited here, because the file is closed at the end of this scope.
          return await readFile(found.file, { real, range: { offset, limit, shown } }, { context, deps });
      }
    },
  });
}

async function readFile(
  file: HeldFile,
  { real, range }: { real: string; range: LineRange },
  { context, deps }: { context: ToolContext; deps: FileToolDeps },
): Promise<ToolResult> {
  try {
    const content = await readHeldFile(file, changedBytesMax);
    if (content === null) {
      return { output: withNotes(await streamLines(file, range, context.signal), []), reads: [real] };
    }
    const decoded = decodeText(content.bytes);
    if (decoded === null) throw binaryFailure(content.bytes, range.shown, content.bytes.length);
    const { text, encoding, hasMark } = decoded;
    deps.seen.note(context, real, content.version);
    deps.recent.put(content.version, text);
    const ends = lineEndsOf(text);
    const notes = [
      ...(ends === "CRLF" ? ["line ends are CRLF"] : ends === "mixed" ? ["line ends are mixed, LF and CRLF"] : []),
      ...(encoding === "UTF-8" ? [] : [`stored as ${encoding}`]),
      ...(hasMark ? ["with a byte order mark"] : []),
      `version ${shortVersion(content.version)}`,
    ];
    return {
      output: withNotes(readLines(text, range), notes),
      seen: [{ path: real, version: content.version }],
    };
  } catch (error) {
    throw error instanceof Error && error.name === "RunFailure" ? error : fileFailure(error, range.shown);
  }
}

function withNotes({ text, notes }: TextExcerpt, more: readonly string[]): string {
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}[${[...notes, ...more].join("; ")}]`;
}
