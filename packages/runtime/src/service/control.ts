import type { Ids, InboxItem, Policy, TroupeService } from "@troupe/core";
import {
  type ApprovalRules,
  beginsTurn,
  type CancelOutcome,
  protocolVersion,
  type RunControlOutcome,
} from "@troupe/core/internal";
import type { HostDeps } from "../host/host-deps.ts";
import { concernsRun } from "../host/run/inbox.ts";
import { announceInbox, sendCommand, wakeParkedRuns } from "../host/run/send-command.ts";
import { createAnswer } from "./answer-approval.ts";
import { checkSteerText } from "./command-bodies.ts";
import { newestTurn, readItems } from "./continue-session.ts";
import { explainRun } from "./explain.ts";
import { findRun, notFound, type RunSources, type RunState, readRun } from "./lookup.ts";
import { createSessionLock } from "./session-lock.ts";

export interface ControlOptions extends RunSources {
  deps: Pick<HostDeps, "journal" | "queue" | "bus" | "subjects" | "clock" | "logger" | "tools" | "agentSource">;
  ids: Ids;
  /** Stores approval answers that hold for good. Without it an answer holds once. @default null */
  rules?: ApprovalRules | null;
  /** @default defaultPolicy */
  policy?: Policy;
}

/** The commands of people about sessions and runs. */
export type Control = Pick<
  TroupeService,
  "cancel" | "cancelRun" | "steer" | "pause" | "resume" | "answer" | "rules" | "removeRule" | "explain"
>;

/**
 * Sends commands about runs, over the ports alone. Each command is stored in the session's inbox first. Then running
 * hosts hear of it and parked runs are woken. No host needs to be alive: a later host reads the inbox.
 *
 * @example
 * const control = createControl({ deps, ids: systemIds(), record });
 * await control.cancel(session, "no longer needed");
 */
export function createControl(options: ControlOptions): Control {
  const { deps, rules = null } = options;
  const { clock, logger } = deps;
  const withLock = createSessionLock();
  const answer = createAnswer(options, { withLock, deliver });

  /** Stores a command, or announces an equal one again: its first sender may have crashed before the announcement. */
  async function deliver(command: InboxItem, existing: InboxItem | undefined): Promise<void> {
    if (!existing) {
      // The log leaves the text of the command out: it can be long and private.
      logger.info(
        { session: command.session, run: "run" in command ? command.run : null, command: command.kind },
        "command stored",
      );
      await sendCommand(deps, command);
      return;
    }
    announceInbox(deps, existing.session);
    await wakeParkedRuns(deps, existing);
  }

  /** Sends one command to one run, unless `findExisting` finds an equal one in the inbox. */
  const commandRun = async (
    run: string,
    commandOf: (head: { v: typeof protocolVersion; at: number; session: string; run: string }) => InboxItem,
    findExisting: (items: readonly InboxItem[], known: RunState) => ExistingCommand,
  ): Promise<RunControlOutcome> => {
    const { session } = await findRun(options, run);
    return await withLock(session, async () => {
      const known = await findRun(options, run);
      const { status } = known;
      if (known.settled) return { session, run, outcome: "settled", status };
      const existing = findExisting(await readTurnItems(deps, session), known);
      if (existing !== "not needed") {
        await deliver(commandOf({ v: protocolVersion, at: clock.now(), session, run }), existing);
      }
      return { session, run, outcome: "requested", status };
    });
  };

  return {
    answer,
    cancel: (session, reason) => withLock(session, () => cancelSession(options, deliver, session, reason)),
    cancelRun: (run, reason) =>
      commandRun(
        run,
        (head) => ({ ...head, kind: "run.cancelled", reason }),
        (items) => items.find((item) => item.kind === "session.cancelled" || isAbout(item, "run.cancelled", run)),
      ),
    async steer(run, text, by) {
      const checked = checkSteerText(text);
      return await commandRun(
        run,
        (head) => ({ ...head, kind: "run.steered", text: checked, by }),
        () => undefined,
      );
    },
    pause: (run, by) => commandRun(run, (head) => ({ ...head, kind: "run.paused", by }), existingPause),
    resume: (run, by) => commandRun(run, (head) => ({ ...head, kind: "run.resumed", by }), existingResume),
    rules: async () => [...(rules?.list() ?? [])],
    async removeRule(id) {
      const removed = (await rules?.remove(id)) ?? null;
      if (!removed) throw notFound("rule", id);
      return removed;
    },
    explain: (run) => explainRun(options, run),
  };
}

/** The equal command that is already in the inbox, or `not needed` if the command would change nothing. */
type ExistingCommand = InboxItem | undefined | "not needed";

async function cancelSession(
  { deps }: ControlOptions,
  deliver: (command: InboxItem, existing: InboxItem | undefined) => Promise<void>,
  session: string,
  reason: string,
): Promise<CancelOutcome> {
  const turn = newestTurn(await readItems(deps, session));
  if (!turn) throw notFound("session", session);
  const { settled, status } = await readRun(deps, session, turn.request.run);
  if (settled) return { session, outcome: "settled", status };
  const existing = (await readTurnItems(deps, session)).find(({ kind }) => kind === "session.cancelled");
  const at = deps.clock.now();
  await deliver({ v: protocolVersion, kind: "session.cancelled", at, session, reason }, existing);
  return { session, outcome: "requested", status };
}

/** The run's own pause, if no later command resumed the run or an ancestor. */
function existingPause(items: readonly InboxItem[], known: RunState): ExistingCommand {
  const pausedAt = items.findLastIndex((item) => isAbout(item, "run.paused", known.run));
  return pausedAt > lastConcerning(items, "run.resumed", known) ? items[pausedAt] : undefined;
}

/** The run's own resumption, if no later command paused the run or an ancestor. Not needed if it was never paused. */
function existingResume(items: readonly InboxItem[], known: RunState): ExistingCommand {
  const pausedAt = lastConcerning(items, "run.paused", known);
  if (pausedAt === -1) return "not needed";
  const resumedAt = items.findLastIndex((item) => isAbout(item, "run.resumed", known.run));
  return resumedAt > pausedAt ? items[resumedAt] : undefined;
}

function lastConcerning(items: readonly InboxItem[], kind: InboxItem["kind"], { run, opened }: RunState): number {
  const ancestors = opened?.request.ancestors ?? [];
  return items.findLastIndex((item) => item.kind === kind && concernsRun(item, { run, ancestors }));
}

function isAbout(item: InboxItem, kind: InboxItem["kind"], run: string): boolean {
  return item.kind === kind && "run" in item && item.run === run;
}

/** Reads the commands of the newest turn. Earlier commands are about runs that have ended. */
async function readTurnItems(deps: Pick<HostDeps, "journal">, session: string): Promise<InboxItem[]> {
  const items = await readItems(deps, session);
  return items.slice(items.findLastIndex(beginsTurn) + 1);
}
