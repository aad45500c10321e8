import { TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { truncate } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";
import { isSettled } from "../session/client.ts";
import { withControl } from "../session/control.ts";
import { resolveSession } from "../session/resolve-ids.ts";
import { archiveOf } from "./session-import.ts";

/** `troupe sessions rm`: deletes settled sessions. Asks first, unless `--yes` is set. */
export async function removeSessions(
  cli: Cli,
  given: readonly string[],
  { yes, json }: { yes: boolean; json: boolean },
): Promise<number> {
  const { out, err } = cli.terminal;
  const rows = await withArchive(cli, (archive) => Promise.all(given.map((each) => resolveSession(archive, each))));
  const running = rows.find(({ status }) => !isSettled(status));
  if (running) throw notSettled(running.session);
  if (!yes) {
    for (const { session, task } of rows) err.line(`${session}  ${truncate(cleanLine(task), 80)}`);
    if (!(await isConfirmed(cli, rows.length))) return 1;
  }
  const result = await withControl(cli, (control) =>
    archiveOf(control).remove([...new Set(rows.map(({ session }) => session))]),
  );
  const [open] = result.kept;
  if (open) throw notSettled(open.session);
  if (json) out.line(jsonLine(result));
  else for (const session of result.removed) out.line(`removed ${session}`);
  return 0;
}

async function isConfirmed(cli: Cli, count: number): Promise<boolean> {
  const { err } = cli.terminal;
  if (!cli.keyboard.isTerminal || !err.isTerminal) {
    throw new TroupeError("USAGE", "deleting sessions needs a confirmation, and this is not a terminal", {
      fix: "troupe sessions rm SESSION --yes",
    });
  }
  err.line(`Delete ${count === 1 ? "this session" : `these ${count} sessions`}? They cannot be brought back. [y/N]`);
  const key = await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal);
  if (key === "y") return true;
  err.line("nothing was deleted");
  return false;
}

function notSettled(session: string): TroupeError {
  return new TroupeError("CONFLICT", `session ${session} has not settled, so it is kept`, {
    fix: `troupe cancel ${session}, and delete it when it has stopped`,
  });
}
