import { TroupeError } from "@troupe/core";
import type { CancelOutcome, RunControlOutcome } from "@troupe/core/internal";
import type { Control } from "troupe/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { withArchive } from "../session/archive.ts";
import { noteIfOffline, userName, withControl } from "../session/control.ts";
import { resolveRun, resolveTarget } from "../session/resolve-ids.ts";

// Commands on unfinished sessions and runs. A settled one stays unchanged, which is not an error.

interface JsonFlag {
  json: boolean;
}

type Outcome = CancelOutcome | RunControlOutcome;

/** `troupe cancel`: stops a session, or a run and all its sub-runs. */
export async function cancel(cli: Cli, given: string, flags: JsonFlag): Promise<number> {
  const target = await withArchive(cli, (archive) => resolveTarget(archive, given));
  const reason = "cancelled on the command line";
  return sendCommand(cli, { doing: "cancelling", ...flags }, (control) =>
    target.run === null ? control.cancel(target.session, reason) : control.cancelRun(target.run, reason),
  );
}

/** `troupe steer`: sends a message to a run. Its model reads it at the next step. */
export async function steer(cli: Cli, given: string, text: string, flags: JsonFlag): Promise<number> {
  const message = text.trim();
  if (message === "") {
    throw new TroupeError("USAGE", `the message ${JSON.stringify(text)} is empty`, {
      fix: `troupe steer ${cleanLine(given) || "RUN"} "what to consider"`,
    });
  }
  const run = await withArchive(cli, (archive) => resolveRun(archive, given));
  return sendCommand(cli, { doing: "steering", ...flags }, (control) => control.steer(run, message, userName(cli.env)));
}

/** `troupe pause`: pauses a run and all its sub-runs. A session id means its root run. */
export async function pause(cli: Cli, given: string, flags: JsonFlag): Promise<number> {
  const run = await withArchive(cli, (archive) => resolveRun(archive, given));
  return sendCommand(cli, { doing: "pausing", ...flags }, (control) => control.pause(run, userName(cli.env)));
}

/** `troupe resume`: continues a paused run. */
export async function resume(cli: Cli, given: string, flags: JsonFlag): Promise<number> {
  const run = await withArchive(cli, (archive) => resolveRun(archive, given));
  return sendCommand(cli, { doing: "resuming", ...flags }, (control) => control.resume(run, userName(cli.env)));
}

async function sendCommand(
  cli: Cli,
  { doing, json }: JsonFlag & { doing: string },
  make: (control: Control) => Promise<Outcome>,
): Promise<number> {
  const { outcome, live } = await withControl(cli, async (control, { live }) => ({
    outcome: await make(control),
    live,
  }));
  cli.terminal.out.line(json ? jsonLine(outcome) : describe(outcome, doing));
  if (!json && outcome.outcome === "requested") noteIfOffline(cli, live);
  return 0;
}

function describe(outcome: Outcome, doing: string): string {
  const id = "run" in outcome ? outcome.run : outcome.session;
  return outcome.outcome === "requested" ? `${doing} ${id}` : `${id} has already settled: ${outcome.status}`;
}
