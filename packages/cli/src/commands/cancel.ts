import { type CancelOutcome, TroupeError } from "@troupe/core";
import { resolveSession, withArchive } from "../archive.ts";
import type { Cli } from "../cli.ts";
import { isSettled } from "../follow.ts";
import { jsonLine } from "../render/clean.ts";

/** `troupe cancel`: asks a session to stop. One that has settled stays as it is, which is no error. */
export async function cancelSession(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const outcome = await withArchive(cli, async (archive): Promise<CancelOutcome> => {
    const { session, status } = await resolveSession(archive, given);
    if (archive.member) return archive.member.client.cancel(session, "cancelled on the command line");
    if (isSettled(status)) return { session, outcome: "settled", status };
    throw new TroupeError("UNREACHABLE", `session ${session} cannot be cancelled: nobody runs this home now`, {
      fix: "troupe up",
    });
  });
  cli.terminal.out.line(flags.json ? jsonLine(outcome) : describe(outcome));
  return 0;
}

function describe({ session, outcome, status }: CancelOutcome): string {
  return outcome === "requested" ? `cancelling ${session}` : `${session} had settled before: ${status}`;
}
