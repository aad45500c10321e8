import { type ApprovalAnswer, TroupeError } from "@troupe/core";
import type { ApprovalOutcome } from "@troupe/core/internal";
import type { Cli } from "../cli.ts";
import { approvalTable, requesterPath, toolName } from "../render/approval.ts";
import { cleanLine, jsonLine } from "../render/clean.ts";
import { withArchive } from "../session/archive.ts";
import { noteIfOffline, userName, withControl } from "../session/control.ts";
import { readApproval, resolveApproval } from "../session/resolve-ids.ts";

const listedMax = 500;

/** `troupe approvals ls`: lists the requests that wait for a person; with `all` the answered ones too. */
export async function listApprovals(cli: Cli, flags: { all: boolean; json: boolean }): Promise<number> {
  const { out, err } = cli.terminal;
  const rows = await withArchive(cli, (archive) => archive.approvals({ waiting: !flags.all, limit: listedMax }));
  if (flags.json) out.line(jsonLine(rows));
  else if (rows.length === 0) err.line(flags.all ? "no requests for approval yet" : "no request waits for approval");
  else for (const line of approvalTable(rows, { out, now: cli.now() })) out.line(line);
  if (!flags.json && rows.some((row) => row.state === "waiting")) {
    err.line(err.colours.dim('answer with: troupe approvals approve ID, or: troupe approvals deny ID --reason "why"'));
  }
  return 0;
}

/** `troupe approvals show`: one request, with the whole message or event, or all arguments. */
export async function showApproval(cli: Cli, given: string, flags: { json: boolean }): Promise<number> {
  const { out } = cli.terminal;
  const row = await withArchive(cli, (archive) => readApproval(archive, given));
  if (flags.json) out.line(jsonLine(row));
  else for (const line of approvalTable([row], { out, now: cli.now() })) out.line(line);
  return 0;
}

export interface AnswerFlags {
  approved: boolean;
  /** Allows the calls that the request covers for the rest of the run. */
  run: boolean;
  /** Stores a rule on this machine. */
  always: boolean;
  anyArguments: boolean;
  /** Limits the stored rule to some commands: `git status:*`. */
  commands?: string;
  reason: string | null;
  json: boolean;
}

/** `troupe approvals approve` and `deny`. The first answer counts. */
export async function answerApproval(cli: Cli, given: string, flags: AnswerFlags): Promise<number> {
  const answer = answerOf(cli, flags);
  const id = await withArchive(cli, (archive) => resolveApproval(archive, given));
  const { outcome, live } = await withControl(cli, async (control, { live }) => ({
    outcome: await control.answer(id, answer),
    live,
  }));
  cli.terminal.out.line(flags.json ? jsonLine(outcome) : describe(outcome));
  if (!flags.json && outcome.outcome === "answered") noteIfOffline(cli, live);
  return 0;
}

function answerOf(cli: Cli, flags: AnswerFlags): ApprovalAnswer {
  const { approved, run, always, anyArguments, commands, reason } = flags;
  const verb = approved ? "approve" : "deny";
  if (anyArguments && !always) {
    throw new TroupeError("USAGE", "--any-arguments needs --always: it widens the stored rule", {
      fix: `troupe approvals ${verb} ID --always --any-arguments`,
    });
  }
  if (commands !== undefined && (!always || anyArguments)) {
    throw new TroupeError(
      "USAGE",
      "--commands needs --always, and not --any-arguments: it names the stored rule's commands",
      {
        fix: `troupe approvals ${verb} ID --always --commands 'git status:*'`,
      },
    );
  }
  const words = reason?.trim() || null;
  const scope = always ? "rule" : run ? "run" : "once";
  const limited = commands === undefined ? {} : { commands };
  return { approved, scope, anyArguments, ...limited, reason: words, by: userName(cli.env) };
}

function describe({ approval, outcome, rule }: ApprovalOutcome): string {
  const what = `${toolName(approval)} of ${requesterPath(approval)}`;
  if (outcome === "settled") {
    const by = approval.by === null ? "" : ` by ${cleanLine(approval.by)}`;
    return `${what} was ${approval.state}${by} already; nothing changed`;
  }
  const reach = approval.scope === "run" ? " for the rest of its run" : "";
  const stored = rule === null ? "" : `; rule ${rule.id} was stored`;
  return `${approval.state} ${what}${reach}${stored}`;
}
