import { dirname } from "node:path";
import { type SessionRow, TroupeError } from "@troupe/core";
import { Id } from "@troupe/core/internal";
import { homeFiles } from "troupe/internal";
import { type Archive, withArchive } from "./archive.ts";
import type { Cli } from "./cli.ts";
import { cleanLine } from "./render/clean.ts";
import { truncate } from "./render/width.ts";
import { resolveSession } from "./resolve.ts";

/** Which session is meant: by its id or the beginning of it, or the one that was asked something last. */
export type Continued = "newest" | { session: string };

const searchedMax = 500;

/**
 * The session that a run goes on with, and says which. The newest is looked for among those of the named folder, or of
 * the caller's and those that have a folder of their own, as demos do.
 */
export async function findContinued(
  cli: Cli,
  wanted: Continued,
  { workspace, notice }: { workspace: string | null; notice: (text: string) => void },
): Promise<string> {
  return await withArchive(cli, async (archive) => {
    const row = wanted === "newest" ? await newestOf(cli, archive, workspace) : await named(archive, wanted.session);
    if (typeof row === "string") return row;
    notice(`continuing session ${row.session}: ${truncate(cleanLine(row.task), 80)}`);
    return row.session;
  });
}

/** An id that the record does not have may be in the journal: whoever takes the turn knows. */
async function named(archive: Archive, given: string): Promise<SessionRow | string> {
  const id = Id.safeParse(given.toLowerCase());
  if (!id.success) return await resolveSession(archive, given);
  return (await archive.session(id.data))?.session ?? id.data;
}

async function newestOf(cli: Cli, archive: Archive, workspace: string | null): Promise<SessionRow> {
  const own = homeFiles(cli.home).workspaces;
  const isHere = (row: SessionRow): boolean =>
    row.workspace === (workspace ?? cli.cwd) || (workspace === null && dirname(row.workspace) === own);
  const found = (await archive.sessions(searchedMax)).find(isHere);
  if (found) return found;
  throw new TroupeError("UNKNOWN_SESSION", `no session of ${workspace ?? cli.cwd} is there to continue`, {
    fix: 'troupe run "what to do", or name one: troupe run --resume SESSION "…"; troupe sessions ls',
  });
}
