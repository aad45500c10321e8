import { z } from "zod";
import type { Tool } from "../define-tool.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { createWriter } from "./file-writer.ts";
import { contentCharactersMax, contentField, pathField, versionField } from "./inputs.ts";

/** Writes a text file of the workspace, as a whole or not at all. */
export function createWriteTool(room: FileToolDeps): Tool {
  return createWriter(
    {
      name: "write",
      description:
        "Writes a UTF-8 text file in the workspace, as a whole, replacing what was there. Folders on the way are " +
        "created. A file that is there already has to be read first; for a small change of it use edit.",
      input: z.strictObject({ path: pathField, content: contentField, version: versionField }),
      wishes: ({ path, content, version }) => [{ path, version, make: () => Buffer.from(content) }],
      say: ({ content }, [file]) => `Successfully wrote ${content.length} chars to ${file?.shown}`,
    },
    room,
  );
}

/** The same by the name and with the words that other agents know. */
export function createWriteLocalFileTool(room: FileToolDeps): Tool {
  return createWriter(
    {
      name: "write_local_file",
      description:
        "Saves a text as a file in the workspace and creates the folders on its way. A file that is there already has " +
        `to be read first. At most ${contentCharactersMax} characters.`,
      input: z.strictObject({ path: pathField, content: contentField }),
      wishes: ({ path, content }) => [{ path, make: () => Buffer.from(content) }],
      say: ({ content }, [file]) => `Successfully wrote ${content.length} chars to ${file?.shown}`,
    },
    room,
  );
}
