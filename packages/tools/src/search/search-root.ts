import { join } from "node:path";
import { RunFailure } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { namesIn } from "../workspace/open-folder.ts";
import { type ResolvedPath, resolvePath } from "../workspace/resolve-path.ts";
import { searchedFileBytesMax } from "./ripgrep.ts";

/** The file or folder that a search looks at. */
export interface SearchRoot {
  /** Argument for ripgrep, relative to the workspace. Starts with `./`, so that it is never parsed as an option. */
  argument: string;
  isFile: boolean;
}

const namesMax = 2_000;

/** Resolves the path of a search. Throws a `RunFailure` where it does not exist or cannot be searched. */
export async function searchRoot(workspace: string, path: string): Promise<SearchRoot> {
  await using resolved = await resolvePath(workspace, path);
  const { found, shown, real } = resolved;
  if (found.kind === "missing") throw await missing(resolved);
  if (found.kind === "special") throw unsearchable(shown, "it is neither a file nor a folder");
  if (found.kind === "file" && found.file.stats.size > searchedFileBytesMax) {
    throw unsearchable(
      shown,
      `its ${found.file.stats.size} bytes are over the limit of ${searchedFileBytesMax}; use the shell tool (grep, head)`,
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
