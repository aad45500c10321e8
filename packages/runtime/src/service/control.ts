import type { Ids, InboxItem, Policy, TroupeService } from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import { beginsTurn, type CancelOutcome, protocolVersion, type RunControlOutcome } from "@troupe/core/internal";
import { announceInbox } from "../host/announce.ts";
import type { HostDeps } from "../host/host-deps.ts";
import { concernsRun } from "../host/inbox.ts";
import { sendCommand, wake } from "../host/run/send-command.ts";
import { createAnswer } from "./answer.ts";
import { steerText } from "./command-bodies.ts";
import { newestTurn, readItems } from "./continue-session.ts";
import { explainRun } from "./explain.ts";
import { findRun, type KnownRun, readRun, type Sources } from "./find-run.ts";
import { createTurns } from "./turns.ts";
import { unknown } from "./unknown.ts";

export interface ControlOptions extends Sources {
  deps: Pick<HostDeps, "journal" | "queue" | "bus" | "subjects" | "clock" | "logger" | "tools" | "agentSource">;
  ids: Ids;
  /** Answers that hold for good. Without them none can be given. @default null */
  rules?: ApprovalRules | null;
  /** @default defaultPolicy */
  policy?: Policy;
}

/** What people can do about sessions that are under way. */
export type Control = Pick<
  TroupeService,
  "cancel" | "cancelRun" | "steer" | "pause" | "resume" | "answer" | "rules" | "removeRule" | "explain"
>;

/**
 * Wishes about runs, over the ports alone: kept in the session's inbox, then heard by whoever is awake and told to
 * whoever is parked. No host need be there: what is kept holds for the one that comes.
 */
export function createControl(options: ControlOptions): Control {
  const { deps, rules = null } = options;
  const { clock, logger } = deps;
  const inTurn = createTurns();
  const answer = createAnswer(options, { inTurn, say });

  /** Keeps a wish, unless it was said before: then whoever said it may have been stopped before anybody heard. */
  async function say(command: InboxItem, before: InboxItem | undefined): Promise<void> {
    if (!before) {
      // Not its words: they may be long, and private.
      logger.info(
        { session: command.session, run: "run" in command ? command.run : null, command: command.kind },
        "wish kept",
      );
      await sendCommand(deps, command);
      return;
    }
    announceInbox(deps, before.session);
    await wake(deps, before);
  }

  /** One wish about one run; `saidBefore` finds the same among those that were kept already. */
  const wishFor = async (
    run: string,
    wishOf: (head: { v: typeof protocolVersion; at: number; session: string; run: string }) => InboxItem,
    saidBefore: (items: readonly InboxItem[], known: KnownRun) => Said,
  ): Promise<RunControlOutcome> => {
    const { session } = await findRun(options, run);
    return await inTurn(session, async () => {
      const known = await findRun(options, run);
      const { status } = known;
      if (known.settled) return { session, run, outcome: "settled", status };
      const said = saidBefore(await itemsIn(deps, session), known);
      if (said !== "idle") await say(wishOf({ v: protocolVersion, at: clock.now(), session, run }), said);
      return { session, run, outcome: "requested", status };
    });
  };

  return {
    answer,
    cancel: (session, reason) => inTurn(session, () => cancelSession(options, say, session, reason)),
    cancelRun: (run, reason) =>
      wishFor(
        run,
        (head) => ({ ...head, kind: "run.cancelled", reason }),
        (items) => items.find((item) => item.kind === "session.cancelled" || isAbout(item, "run.cancelled", run)),
      ),
    async steer(run, text, by) {
      const words = steerText(text);
      return await wishFor(
        run,
        (head) => ({ ...head, kind: "run.steered", text: words, by }),
        () => undefined,
      );
    },
    pause: (run, by) => wishFor(run, (head) => ({ ...head, kind: "run.paused", by }), pausedBefore),
    resume: (run, by) => wishFor(run, (head) => ({ ...head, kind: "run.resumed", by }), resumedBefore),
    rules: async () => [...(rules?.list() ?? [])],
    async removeRule(id) {
      const removed = (await rules?.remove(id)) ?? null;
      if (!removed) throw unknown("rule", id);
      return removed;
    },
    explain: (run) => explainRun(options, run),
  };
}

/** The wish that says it already; `idle` where there is nothing to be said. */
type Said = InboxItem | undefined | "idle";

async function cancelSession(
  { deps }: ControlOptions,
  say: (command: InboxItem, before: InboxItem | undefined) => Promise<void>,
  session: string,
  reason: string,
): Promise<CancelOutcome> {
  const turn = newestTurn(await readItems(deps, session));
  if (!turn) throw unknown("session", session);
  const { settled, status } = await readRun(deps, session, turn.request.run);
  if (settled) return { session, outcome: "settled", status };
  const before = (await itemsIn(deps, session)).find(({ kind }) => kind === "session.cancelled");
  const at = deps.clock.now();
  await say({ v: protocolVersion, kind: "session.cancelled", at, session, reason }, before);
  return { session, outcome: "requested", status };
}

/** It was paused itself, and nothing that concerns it was resumed since. */
function pausedBefore(items: readonly InboxItem[], known: KnownRun): Said {
  const paused = items.findLastIndex((item) => isAbout(item, "run.paused", known.run));
  return paused > lastConcerning(items, "run.resumed", known) ? items[paused] : undefined;
}

/** It was resumed itself, and nothing that concerns it was paused since; or it never was. */
function resumedBefore(items: readonly InboxItem[], known: KnownRun): Said {
  const pausedAt = lastConcerning(items, "run.paused", known);
  if (pausedAt === -1) return "idle";
  const resumed = items.findLastIndex((item) => isAbout(item, "run.resumed", known.run));
  return resumed > pausedAt ? items[resumed] : undefined;
}

function lastConcerning(items: readonly InboxItem[], kind: InboxItem["kind"], { run, opened }: KnownRun): number {
  const ancestors = opened?.request.ancestors ?? [];
  return items.findLastIndex((item) => item.kind === kind && concernsRun(item, { run, ancestors }));
}

function isAbout(item: InboxItem, kind: InboxItem["kind"], run: string): boolean {
  return item.kind === kind && "run" in item && item.run === run;
}

/** What was wished in the newest turn: what was said before is about runs that have ended. */
async function itemsIn(deps: Pick<HostDeps, "journal">, session: string): Promise<InboxItem[]> {
  const items = await readItems(deps, session);
  return items.slice(items.findLastIndex(beginsTurn) + 1);
}
