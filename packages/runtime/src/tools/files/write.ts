import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { RunFailure } from "@troupe/core";
import { z } from "zod";
import { writeFileAtomic } from "../../files/atomic-write.ts";
import { codeOf, fileFailure, resolveInWorkspace, type WorkspacePath } from "../../workspace/workspace-path.ts";
import { defineTool, type ToolResult } from "../define-tool.ts";

const contentCharactersMax = 4 * 1024 * 1024;

/** Writes a text file of the workspace, as a whole or not at all. */
export const writeTool = defineTool({
  name: "write",
  description:
    "Writes a UTF-8 text file in the workspace, replacing what was there. Folders on the way are created. Give the " +
    "path relative to the workspace and the whole content.",
  input: z.strictObject({
    path: z.string().min(1).describe("Path relative to the workspace"),
    content: z.string().max(contentCharactersMax).describe("The whole new content of the file"),
  }),
  risk: "medium",
  effect: "verifiable",
  groups: ["filesystem"],
  async run({ path, content }, { workspace, idempotencyKey }) {
    const place = await resolveInWorkspace(workspace, path);
    try {
      const existing = await existingFile(place);
      await mkdir(dirname(place.absolute), { recursive: true });
      await writeFileAtomic(place.absolute, Buffer.from(content), {
        temporaryName: temporaryName(idempotencyKey),
        ...(existing ? { mode: existing.mode & 0o7777 } : {}),
      });
      return written(place, content, existing ? "filesModified" : "filesCreated");
    } catch (error) {
      throw error instanceof RunFailure ? error : fileFailure(error, place.shown);
    }
  },
  async verify({ path, content }, { workspace }) {
    try {
      const place = await resolveInWorkspace(workspace, path);
      if (!(await existingFile(place))) return null;
      if (!(await readFile(place.absolute)).equals(Buffer.from(content))) return null;
      // Nobody knows any more whether the file was there before; only this differs from what the first run says.
      return written(place, content, "filesModified");
    } catch {
      return null;
    }
  },
});

function written(place: WorkspacePath, content: string, list: "filesCreated" | "filesModified"): ToolResult {
  return { output: `Successfully wrote ${content.length} chars to ${place.shown}`, [list]: [place.shown] };
}

/** The file that would be replaced, null where there is none. Throws for what must not be replaced. */
async function existingFile(place: WorkspacePath): Promise<Stats | null> {
  if (place.isLink) throw refused(place.shown, "it is a symbolic link");
  let stats: Stats;
  try {
    stats = await lstat(place.absolute);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  if (stats.isDirectory()) throw refused(place.shown, "it is a folder");
  if (!stats.isFile()) throw refused(place.shown, "it is not a regular file");
  if (stats.nlink > 1) throw refused(place.shown, "it is hard-linked: the same file has another name elsewhere");
  return stats;
}

/** The same for each try of the same call, so that a later try removes what a killed one left behind. */
function temporaryName(idempotencyKey: string): string {
  return `.troupe-${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 24)}.tmp`;
}

function refused(shown: string, reason: string): RunFailure {
  return new RunFailure({
    type: "permission",
    message: `${shown} was not written: ${reason}; choose another path`,
    recoverable: false,
  });
}
