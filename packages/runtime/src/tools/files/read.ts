import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { RunFailure } from "@troupe/core";
import { z } from "zod";
import { codeOf, fileFailure, resolveInWorkspace, type WorkspacePath } from "../../workspace/workspace-path.ts";
import { defineTool } from "../define-tool.ts";
import { nearestNames } from "../nearest-names.ts";

const fileBytesMax = 4 * 1024 * 1024;

/** How many names of a folder are looked through, and how many are shown. */
const namesMax = 2_000;
const namesShown = 20;

/** Reads a text file of the workspace. */
export const readTool = defineTool({
  name: "read",
  description:
    "Reads a UTF-8 text file of the workspace. Give the path relative to the workspace. Long files come in parts: " +
    "ask for the next one with offset.",
  input: z.strictObject({
    path: z.string().min(1).describe("Path relative to the workspace"),
    offset: z.int().min(1).default(1).describe("First line to read, counted from 1"),
    limit: z.int().min(1).max(10_000).default(2_000).describe("How many lines to read"),
  }),
  risk: "low",
  effect: "read",
  groups: ["filesystem"],
  async run({ path, offset, limit }, { workspace }) {
    const place = await resolveInWorkspace(workspace, path);
    const text = decodeText(await readBytes(place), place.shown);
    return { output: partOf(text, { offset, limit, shown: place.shown }) };
  },
});

async function readBytes(place: WorkspacePath): Promise<Buffer> {
  await using file = await openFile(place);
  const stats = await file.stat();
  if (stats.isDirectory()) throw isFolder(place, await namesIn(place.absolute));
  if (!stats.isFile()) throw unreadable(place.shown, "it is not a regular file");
  if (stats.size > fileBytesMax) {
    throw unreadable(
      place.shown,
      `its ${stats.size} bytes are over the ${fileBytesMax} that can be read; look at a part of it with the shell ` +
        "tool (head, tail, sed -n, grep)",
    );
  }
  return file.readFile();
}

/** O_NONBLOCK: opening a pipe that nobody writes to would wait for ever. */
async function openFile(place: WorkspacePath): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return await open(place.absolute, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw await missing(place);
    throw fileFailure(error, place.shown);
  }
}

function decodeText(bytes: Buffer, shown: string): string {
  const binary = unreadable(shown, "it is a binary file (not UTF-8 text)");
  if (bytes.includes(0)) throw binary;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw binary;
  }
}

function partOf(text: string, { offset, limit, shown }: { offset: number; limit: number; shown: string }): string {
  if (text === "") return `[${shown} is empty]`;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > lines.length) {
    throw unreadable(shown, `it has ${lines.length} lines, so there is no line ${offset}`);
  }
  const last = Math.min(offset - 1 + limit, lines.length);
  if (offset === 1 && last === lines.length) return text;
  const next = last < lines.length ? `; go on with offset ${last + 1}` : "";
  return `${lines.slice(offset - 1, last).join("\n")}\n[lines ${offset} to ${last} of ${lines.length}${next}]`;
}

async function missing({ absolute, shown }: WorkspacePath): Promise<RunFailure> {
  const nearest = nearestNames(basename(absolute), await namesIn(dirname(absolute)));
  const folder = shown.includes("/") ? `${shown.slice(0, shown.lastIndexOf("/"))}/` : "";
  const hint = nearest.length > 0 ? `; the nearest names are: ${nearest.map((name) => folder + name).join(", ")}` : "";
  return unreadable(shown, `there is no such file${hint}`);
}

function isFolder({ shown }: WorkspacePath, names: readonly string[]): RunFailure {
  const some = names.slice(0, namesShown).join(", ") || "nothing";
  const more = names.length > namesShown ? ", …" : "";
  return unreadable(shown, `it is a folder; it has in it: ${some}${more}`);
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.sort().slice(0, namesMax);
}

function unreadable(shown: string, reason: string): RunFailure {
  return new RunFailure({ type: "params", message: `${shown} cannot be read: ${reason}`, recoverable: false });
}
