import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { RunFailure } from "@troupe/core";
import { codeOf, fileFailure, resolveInWorkspace } from "../../workspace/workspace-path.ts";
import { nearestNames } from "../nearest-names.ts";
import { searchedFileBytesMax } from "./ripgrep.ts";

/** Where in the workspace a search begins. */
export interface SearchRoot {
  /** For ripgrep, from the workspace's folder: begins with `./`, so that it is never taken for an option. */
  argument: string;
  isFile: boolean;
}

const namesMax = 2_000;

/** The file or folder of the workspace that a search is about. Throws a `RunFailure` where there is none. */
export async function searchRoot(workspace: string, path: string): Promise<SearchRoot> {
  const { absolute, shown } = await resolveInWorkspace(workspace, path);
  const stats = await lstat(absolute).catch(async (error) => {
    throw codeOf(error) === "ENOENT" ? await missing(absolute, shown) : fileFailure(error, shown);
  });
  if (stats.isFile() && stats.size > searchedFileBytesMax) {
    throw unsearchable(
      shown,
      `its ${stats.size} bytes are over the ${searchedFileBytesMax} that are searched; use the shell tool (grep, head)`,
    );
  }
  if (!stats.isFile() && !stats.isDirectory()) throw unsearchable(shown, "it is neither a file nor a folder");
  const top = (await resolveInWorkspace(workspace, ".")).absolute;
  return { argument: `./${relative(top, absolute).split(sep).join("/")}`, isFile: stats.isFile() };
}

async function missing(absolute: string, shown: string): Promise<RunFailure> {
  const names = await readdir(dirname(absolute)).catch(() => []);
  const nearest = nearestNames(basename(absolute), names.sort().slice(0, namesMax));
  const folder = shown.includes("/") ? `${shown.slice(0, shown.lastIndexOf("/"))}/` : "";
  const hint =
    nearest.length > 0 ? `; the nearest names are: ${nearest.map((name) => join(folder, name)).join(", ")}` : "";
  return unsearchable(shown, `there is no such file or folder${hint}`);
}

function unsearchable(shown: string, reason: string): RunFailure {
  return new RunFailure({ type: "params", message: `${shown} cannot be searched: ${reason}`, recoverable: false });
}
