import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import { contentCharactersMax, contentField, type FileToolDeps, pathField, versionField } from "./file-tool-deps.ts";
import { createFileWriter } from "./file-writer.ts";

/** Writes a whole text file. */
export function createWriteTool(deps: FileToolDeps): Tool {
  return createFileWriter(
    {
      name: "write",
      description: "Writes a whole text file. Read an existing file before you write it. For a small change use edit.",
      input: z.strictObject({ path: pathField, content: contentField, version: versionField }),
      requests: ({ path, content, version }) => [{ path, version, make: () => Buffer.from(content) }],
      summarize: ({ content }, [file]) => `Successfully wrote ${content.length} chars to ${file?.shown}`,
    },
    deps,
  );
}

/** `write` under the name that agents written for other systems call. */
export function createWriteLocalFileTool(deps: FileToolDeps): Tool {
  return createFileWriter(
    {
      name: "write_local_file",
      description: `Saves a text of at most ${contentCharactersMax} characters as a file. Read an existing file before you write it.`,
      input: z.strictObject({ path: pathField, content: contentField }),
      requests: ({ path, content }) => [{ path, make: () => Buffer.from(content) }],
      summarize: ({ content }, [file]) => `Successfully wrote ${content.length} chars to ${file?.shown}`,
    },
    deps,
  );
}
