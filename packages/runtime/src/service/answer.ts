import { type ApprovalAnswer, type ApprovalRow, type InboxItem, type Journal, TroupeError } from "@troupe/core";
import {
  type ApprovalOutcome,
  type ApprovalRule,
  hashArguments,
  openEntry,
  projectOf,
  protocolVersion,
} from "@troupe/core/internal";
import type { ControlOptions } from "./control.ts";
import { readRun, type Sources } from "./find-run.ts";
import type { createTurns } from "./turns.ts";
import { unknown } from "./unknown.ts";

type Answered = InboxItem & { kind: "approval.answered" };

interface Manners {
  inTurn: ReturnType<typeof createTurns>;
  say(command: InboxItem, before: InboxItem | undefined): Promise<void>;
}

/**
 * Brings a person's answer to whoever waits for it. The first answer holds. Of one that is to hold for good the rule
 * is stored first: a stop in between leaves a rule that fits and a question that can be answered again.
 */
export function createAnswer(options: ControlOptions, { inTurn, say }: Manners) {
  const { deps } = options;

  const answerNow = async (row: ApprovalRow, given: ApprovalAnswer): Promise<ApprovalOutcome> => {
    const settled = (approval: ApprovalRow): ApprovalOutcome => ({ approval, outcome: "settled", rule: null });
    if (row.state !== "waiting") return settled(row);
    const { id: approval, session, run } = row;
    const first = await firstAnswer(deps.journal, row);
    if (first) {
      await say(first, first);
      return settled(withAnswer(row, first));
    }
    const known = await readRun(deps, session, run);
    if (known.settled) return settled({ ...row, state: "withdrawn" });
    const rule =
      given.scope === "rule"
        ? await storeRule(options, row, known.request ? projectOf(known.request) : undefined, given)
        : null;
    const { approved, scope, reason, by } = given;
    const head = { v: protocolVersion, kind: "approval.answered", at: deps.clock.now(), session, run } as const;
    const answered: Answered = { ...head, approval, approved, scope, reason, by };
    await say(answered, undefined);
    return { approval: withAnswer(row, answered), outcome: "answered", rule };
  };

  return async (id: string, given: ApprovalAnswer): Promise<ApprovalOutcome> => {
    const row = (await options.record.approval(id)) ?? (await askedInJournal(options, id));
    if (!row) throw unknown("approval", id);
    return await inTurn(row.session, () => answerNow(row, given));
  };
}

async function firstAnswer(journal: Journal, { id, session }: ApprovalRow): Promise<Answered | undefined> {
  const items = (await journal.readInbox(session)).map(({ item }) => item);
  return items.find((item) => item.kind === "approval.answered" && item.approval === id) as Answered | undefined;
}

function withAnswer(row: ApprovalRow, { at, approved, scope, reason, by }: Answered): ApprovalRow {
  const answeredAt = new Date(at).toISOString();
  return { ...row, state: approved ? "approved" : "denied", answeredAt, scope, by, answerReason: reason };
}

/** A question that the record does not have yet. Only runs that are still open can have one. */
async function askedInJournal({ deps: { journal } }: Sources, id: string): Promise<ApprovalRow | null> {
  for (const { session, run } of await journal.openRuns()) {
    const texts = await journal.readRun(session, run);
    const asked = texts.filter((text) => text.includes(id)).map(openEntry);
    const entry = asked.find((each) => each.kind === "approval.requested" && each.approval.id === id);
    const opened = texts[0] === undefined ? null : openEntry(texts[0]);
    if (entry?.kind !== "approval.requested" || opened?.kind !== "run.opened") continue;
    return {
      ...entry.approval,
      session,
      run,
      agent: opened.request.agent,
      state: "waiting",
      requestedAt: new Date(entry.at).toISOString(),
      answeredAt: null,
      scope: null,
      by: null,
      answerReason: null,
    };
  }
  return null;
}

/**
 * An allowance holds for the agent that asked: nobody has looked at what others do with the tool. A denial holds for
 * all, since another agent's name makes the same call no better.
 */
async function storeRule(
  { rules, ids, deps }: ControlOptions,
  row: ApprovalRow,
  workspace: string | undefined,
  { approved, anyArguments, by }: ApprovalAnswer,
): Promise<ApprovalRule> {
  const { tool, args, agent } = row;
  const onceInstead = { fix: "answer with the scope once" };
  if (!rules) throw new TroupeError("USAGE", "no rules are kept here", onceInstead);
  if (tool === null) throw new TroupeError("USAGE", "a rule is for a tool, and this is about a whole run", onceInstead);
  if (workspace === undefined) throw new TroupeError("CONFLICT", `run ${row.run} has no workspace yet`, onceInstead);
  return await rules.add({
    id: ids.next(),
    decision: approved ? "allow" : "deny",
    tool,
    argsHash: anyArguments ? null : hashArguments(args),
    args: anyArguments ? null : args,
    workspace,
    agent: approved ? agent : null,
    createdAt: new Date(deps.clock.now()).toISOString(),
    by,
  });
}
