import { exitCodes } from "@troupe/core";
import type { UndoFile, UndoOutcome, UndoRequest } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { type Cell, layout } from "../render/layout.ts";
import { withArchive } from "../session/archive.ts";
import { userName, withControl } from "../session/control.ts";
import { resolveRunOf } from "../session/resolve-ids.ts";
import type { Output } from "../terminal/terminal.ts";

export interface UndoFlags {
  session: string | null;
  step: number | null;
  paths: string[];
  dryRun: boolean;
  partial: boolean;
  redo: boolean;
  yes: boolean;
  json: boolean;
}

/** `troupe undo`: lists the files that a run changed, and restores them after a confirmation. */
export async function undo(cli: Cli, given: string, flags: UndoFlags): Promise<number> {
  const { out } = cli.terminal;
  const run = await withArchive(cli, (archive) => resolveRunOf(archive, given, flags.session));
  const request = requestOf(cli, flags);
  const plan = await send(cli, run, { ...request, dryRun: true });
  if (!flags.json) showPlan(plan, out);
  const end = await endOfPlan(cli, plan, flags);
  if (end !== null) {
    if (flags.json) out.line(jsonLine({ ...plan, outcome: end.outcome }));
    return end.code;
  }
  const outcome = await send(cli, run, request);
  if (flags.json) out.line(jsonLine(outcome));
  else showOutcome(cli, outcome);
  return outcome.outcome === "done" || outcome.outcome === "nothing" ? 0 : exitCodes.CONFLICT;
}

/** Why the command ends with the plan, and its exit code; null if the files are to be changed. */
async function endOfPlan(
  cli: Cli,
  plan: UndoOutcome,
  flags: UndoFlags,
): Promise<{ outcome: UndoOutcome["outcome"]; code: number } | null> {
  const { err } = cli.terminal;
  const refusal = refusalOf(plan, flags);
  if (flags.dryRun) return { outcome: "planned", code: refusal === null ? 0 : exitCodes.CONFLICT };
  if (refusal !== null) {
    err.line(refusal);
    return { outcome: "refused", code: exitCodes.CONFLICT };
  }
  if (!hasWork(plan)) {
    // Finishes the record of an undo that was interrupted after its last file.
    await send(cli, plan.run, requestOf(cli, flags));
    err.line("nothing to undo: the files already have their old contents");
    return { outcome: "nothing", code: 0 };
  }
  if (flags.yes || (await isConfirmed(cli, plan, flags))) return null;
  return { outcome: "planned", code: exitCodes.APPROVAL_NEEDED };
}

function requestOf(cli: Cli, { step, paths, dryRun, partial, redo }: UndoFlags): UndoRequest {
  return {
    ...(step === null ? {} : { step }),
    ...(paths.length === 0 ? {} : { paths }),
    ...{ dryRun, partial, redo, by: userName(cli.env) },
  };
}

function send(cli: Cli, run: string, request: UndoRequest): Promise<UndoOutcome> {
  return withControl(cli, (control) => control.undo(run, request));
}

function problemsOf({ files }: UndoOutcome): UndoFile[] {
  return files.filter(({ action }) => action === "conflict" || action === "unkept");
}

function hasWork({ files }: UndoOutcome): boolean {
  return files.some(({ action }) => action === "restore" || action === "delete");
}

/** Why nothing is changed; null if the undo can go on. */
function refusalOf(plan: UndoOutcome, { partial }: UndoFlags): string | null {
  const { length } = problemsOf(plan);
  if (length === 0 || (partial && hasWork(plan))) return null;
  const what = length === 1 ? "1 file cannot be restored" : `${length} files cannot be restored`;
  const fix = hasWork(plan) ? `; to restore the others: troupe undo ${plan.run} --partial` : "";
  return `nothing was changed: ${what}${fix}`;
}

async function isConfirmed(cli: Cli, { run, files }: UndoOutcome, { json }: UndoFlags): Promise<boolean> {
  const { err } = cli.terminal;
  if (json || !cli.keyboard.isTerminal || !err.isTerminal) {
    err.line(`nothing was changed; to change these files: troupe undo ${run} --yes`);
    return false;
  }
  const { length } = files.filter(({ action }) => action === "restore" || action === "delete");
  err.line(`change ${length === 1 ? "this file" : `these ${length} files`}? [y/N]`);
  return (await cli.keyboard.readKey("yn\r\n", cli.interrupts.signal)) === "y";
}

const actionWords = {
  restore: "restore",
  delete: "delete",
  none: "unchanged",
  conflict: "conflict",
  unkept: "not kept",
} as const satisfies Record<UndoFile["action"], string>;

function showPlan(plan: UndoOutcome, out: Output): void {
  const { colours } = out;
  const head: Cell[] = ["FILE", "UNDO", "REASON"].map((text) => ({ text, paint: colours.dim }));
  const rows = plan.files.map(({ path, action, reason }): Cell[] => [
    { text: cleanLine(path) },
    { text: actionWords[action], paint: paintOf(action, out) },
    { text: cleanLine(reason ?? "") },
  ]);
  out.line(`${colours.dim("workspace")}  ${cleanLine(plan.workspace)}`);
  for (const line of layout([{}, {}, { flexible: true }], [head, ...rows], out.width)) out.line(line.trimEnd());
  for (const note of plan.notes) out.line(`${colours.yellow("note:")} ${cleanLine(note)}`);
}

function paintOf(action: UndoFile["action"], { colours }: Output): (text: string) => string {
  if (action === "restore") return colours.yellow;
  if (action === "none") return colours.dim;
  return colours.red;
}

function showOutcome(cli: Cli, { outcome, files, run, undo: undone }: UndoOutcome): void {
  const { out, err } = cli.terminal;
  const left = files.filter(({ state, reason }) => state === "left" || (state === undefined && reason !== null));
  for (const { path, reason } of left) err.line(`not restored: ${cleanLine(path)}: ${cleanLine(reason ?? "")}`);
  const count = (state: string): number => files.filter((file) => file.state === state).length;
  if (outcome === "refused") err.line("nothing was changed: a file was changed meanwhile");
  else out.line(`undone: ${count("restored")} restored, ${count("deleted")} deleted, ${left.length} left`);
  if (undone !== null) err.line(err.colours.dim(`to take this undo back: troupe undo ${run} --redo`));
}
