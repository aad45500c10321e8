import { type ApprovalAnswer, type ApprovalRow, type InboxItem, type Journal, TroupeError } from "@troupe/core";
import {
  type ApprovalOutcome,
  type ApprovalRule,
  type BoundContent,
  hashArguments,
  openEntry,
  parseCommandPattern,
  projectOf,
  protocolVersion,
} from "@troupe/core/internal";
import type { ControlOptions } from "./control.ts";
import { notFound, type RunSources, readRun } from "./lookup.ts";
import type { WithSessionLock } from "./session-lock.ts";

type AnswerItem = InboxItem & { kind: "approval.answered" };

interface AnswerDeps {
  withLock: WithSessionLock;
  deliver(command: InboxItem, existing: InboxItem | undefined): Promise<void>;
}

/**
 * Creates the function that delivers a person's answer to the run that waits for it. The first answer holds. For an
 * answer that becomes a rule, the rule is stored first: after a crash in between, the question can be answered again.
 */
export function createAnswer(options: ControlOptions, { withLock, deliver }: AnswerDeps) {
  const { deps } = options;

  const answerNow = async (row: ApprovalRow, answer: ApprovalAnswer): Promise<ApprovalOutcome> => {
    const settled = (approval: ApprovalRow): ApprovalOutcome => ({ approval, outcome: "settled", rule: null });
    if (row.state !== "waiting") return settled(row);
    const { id: approval, session, run } = row;
    const first = await firstAnswer(deps.journal, row);
    if (first) {
      await deliver(first, first);
      return settled(withAnswer(row, first));
    }
    const known = await readRun(deps, session, run);
    if (known.settled) return settled({ ...row, state: "withdrawn" });
    const rule =
      answer.scope === "rule"
        ? await storeRule(
            options,
            { row, bound: await boundOf(deps.journal, row) },
            known.request ? projectOf(known.request) : undefined,
            answer,
          )
        : null;
    const { approved, scope, reason, by } = answer;
    const head = { v: protocolVersion, kind: "approval.answered", at: deps.clock.now(), session, run } as const;
    const item: AnswerItem = { ...head, approval, approved, scope, reason, by };
    await deliver(item, undefined);
    return { approval: withAnswer(row, item), outcome: "answered", rule };
  };

  return async (id: string, answer: ApprovalAnswer): Promise<ApprovalOutcome> => {
    const row = (await options.record.approval(id)) ?? (await findInJournal(options, id));
    if (!row) throw notFound("approval", id);
    return await withLock(row.session, () => answerNow(row, answer));
  };
}

async function firstAnswer(journal: Journal, { id, session }: ApprovalRow): Promise<AnswerItem | undefined> {
  const items = (await journal.readInbox(session)).map(({ item }) => item);
  return items.find((item) => item.kind === "approval.answered" && item.approval === id) as AnswerItem | undefined;
}

function withAnswer(row: ApprovalRow, { at, approved, scope, reason, by }: AnswerItem): ApprovalRow {
  const answeredAt = new Date(at).toISOString();
  return { ...row, state: approved ? "approved" : "denied", answeredAt, scope, by, answerReason: reason };
}

/** Finds a question that the record does not have yet. Only open runs can have one. */
async function findInJournal({ deps: { journal } }: RunSources, id: string): Promise<ApprovalRow | null> {
  for (const { session, run } of await journal.openRuns()) {
    const texts = await journal.readRun(session, run);
    const candidates = texts.filter((text) => text.includes(id)).map(openEntry);
    const entry = candidates.find((each) => each.kind === "approval.requested" && each.approval.id === id);
    const opened = texts[0] === undefined ? null : openEntry(texts[0]);
    if (entry?.kind !== "approval.requested" || opened?.kind !== "run.opened") continue;
    return {
      ...entry.approval,
      session,
      run,
      agent: opened.request.agent,
      team: opened.pin.definition.team ?? null,
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
 * An allowance holds for the agent that asked, because the person did not consider other agents. A denial holds for all
 * agents, because another agent's name makes the same call no safer.
 */
async function storeRule(
  { rules, ids, deps }: ControlOptions,
  { row, bound }: { row: ApprovalRow; bound: BoundContent[] | undefined },
  workspace: string | undefined,
  { approved, anyArguments, commands, by }: ApprovalAnswer,
): Promise<ApprovalRule> {
  const { tool, args, agent } = row;
  const onceInstead = { fix: "answer with the scope once" };
  if (!rules) throw new TroupeError("USAGE", "this process stores no rules", onceInstead);
  if (tool === null) {
    throw new TroupeError("USAGE", "a rule is for a tool, but this approval is for a whole run", onceInstead);
  }
  if (workspace === undefined) throw new TroupeError("CONFLICT", `run ${row.run} has no workspace yet`, onceInstead);
  const isExact = !anyArguments && commands === undefined;
  return await rules.add({
    id: ids.next(),
    decision: approved ? "allow" : "deny",
    tool: commands === undefined ? tool : patternOf(tool, commands),
    argsHash: isExact ? hashArguments(args) : null,
    args: isExact ? args : null,
    workspace,
    agent: approved ? agent : null,
    createdAt: new Date(deps.clock.now()).toISOString(),
    by,
    // A rule for exactly this command is for the programs as the person saw them.
    ...(isExact && approved && bound !== undefined && bound.length > 0 ? { bound } : {}),
  });
}

/** Content that the call of an approval runs. Undefined for a request of an earlier version. */
async function boundOf(journal: Journal, { id, session, run }: ApprovalRow): Promise<BoundContent[] | undefined> {
  const texts = await journal.readRun(session, run);
  const entries = texts.filter((text) => text.includes(id)).map(openEntry);
  const entry = entries.find((each) => each.kind === "approval.requested" && each.approval.id === id);
  return entry?.kind === "approval.requested" ? entry.approval.bound : undefined;
}

/** The tools that run commands. A pattern of another tool would match no call. */
const commandTools: readonly string[] = ["shell", "git"];

function patternOf(tool: string, commands: string): string {
  const pattern = `${tool}(${commands})`;
  try {
    if (commandTools.includes(tool) && parseCommandPattern(pattern) !== null) return pattern;
  } catch {
    // The error below has the fix.
  }
  throw new TroupeError("USAGE", `${pattern} is not a pattern of commands`, {
    fix: "name the first words of a command of shell or git: --commands 'git status:*'",
  });
}
