import { TroupeError } from "@troupe/core";
import type { Cli } from "../cli.ts";
import { jsonLine } from "../render/clean.ts";
import { withArchive } from "../session/archive.ts";
import { noteIfOffline, userName, withControl } from "../session/control.ts";
import { resolveRunOf, resolveSession } from "../session/resolve-ids.ts";
import { archiveOf } from "./session-import.ts";

/** `troupe sessions fork`: starts a new session with the finished part of another one. */
export async function forkSession(
  cli: Cli,
  given: string,
  { at, task, json }: { at: string; task: string | null; json: boolean },
): Promise<number> {
  const { run: wanted, step } = parsePoint(at);
  const message = task?.trim() ?? null;
  if (message === "")
    throw new TroupeError("USAGE", "the task is empty", { fix: "leave out --task, or write a message" });
  const point = await withArchive(cli, async (archive) => {
    const { session } = await resolveSession(archive, given);
    return { session, run: await resolveRunOf(archive, wanted, session) };
  });
  const request = { run: point.run, step, task: message, by: userName(cli.env) };
  const { forked, live } = await withControl(cli, async (control, how) => ({
    forked: await archiveOf(control).fork(point.session, request),
    live: how.live,
  }));
  const { session, from, entries } = forked;
  const line = `forked session ${session} from ${from.session}, run ${from.run}, step ${from.step}: ${entries} entries taken over`;
  cli.terminal.out.line(json ? jsonLine(forked) : line);
  if (!json) noteIfOffline(cli, live);
  return 0;
}

function parsePoint(at: string): { run: string; step: number } {
  const [, run, step] = /^([0-9a-f-]+)\/(\d{1,6})$/i.exec(at.trim()) ?? [];
  if (run !== undefined && step !== undefined) return { run, step: Number(step) };
  throw new TroupeError("USAGE", `--at ${JSON.stringify(at)} is not RUN/STEP`, {
    fix: "name a run and a step of it, such as --at 0199c2a4/2; troupe sessions show SESSION --tree lists the runs",
  });
}
