import { join } from "node:path";
import { RunFailure } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { namesIn } from "../workspace/open-folder.ts";
import { type ResolvedPath, resolvePath } from "../workspace/resolve-path.ts";
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
  await using place = await resolvePath(workspace, path);
  const { found, shown, real } = place;
  if (found.kind === "missing") throw await missing(place);
  if (found.kind === "special") throw unsearchable(shown, "it is neither a file nor a folder");
  if (found.kind === "file" && found.file.stats.size > searchedFileBytesMax) {
    throw unsearchable(
      shown,
      `its ${found.file.stats.size} bytes are over the ${searchedFileBytesMax} that are searched; use the shell tool (grep, head)`,
    );
  }
  return { argument: `./${real}`, isFile: found.kind === "file" };
}

async function missing({ folder, missing: absent, shown }: ResolvedPath): Promise<RunFailure> {
  const names = await namesIn(folder).catch(() => []);
  const nearest = nearestNames(absent[0] ?? "", names.slice(0, namesMax));
  const hint =
    nearest.length > 0 ? `; the nearest names are: ${nearest.map((name) => join(folder.real, name)).join(", ")}` : "";
  return unsearchable(shown, `there is no such file or folder${hint}`);
}

function unsearchable(shown: string, reason: string): RunFailure {
  return new RunFailure({ type: "params", message: `${shown} cannot be searched: ${reason}`, recoverable: false });
}
