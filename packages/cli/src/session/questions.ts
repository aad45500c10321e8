import { ApprovalAnswer, type ApprovalRow } from "@troupe/core";
import type { ApprovalOutcome } from "@troupe/core/internal";
import { answerCommands, approvalLine, questionLines } from "../render/approval.ts";
import { cleanLine } from "../render/clean.ts";
import type { Keyboard } from "../terminal/keyboard.ts";
import type { Output } from "../terminal/terminal.ts";

export interface QuestionsOptions {
  keyboard: Keyboard;
  err: Output;
  by: string;
  answer(approval: string, answer: ApprovalAnswer): Promise<ApprovalOutcome>;
  /** Holds back all other output until the returned function is called. */
  hold(): () => void;
}

/** Tells the user about requests for approval. */
export interface Questions {
  /** Sets the waiting requests. A request that is missing was answered elsewhere, or its run has ended. */
  update(waiting: readonly ApprovalRow[]): void;
  /** Withdraws the open question and asks no more. Resolves when the terminal is free. */
  stop(): Promise<void>;
}

type Answer = Partial<ApprovalAnswer> & { approved: boolean };

const choices: { key: string; words: string; answer: Answer }[] = [
  { key: "y", words: "once", answer: { approved: true } },
  { key: "r", words: "for this run", answer: { approved: true, scope: "run" } },
  { key: "a", words: "always, with these arguments", answer: { approved: true, scope: "rule" } },
  { key: "n", words: "deny", answer: { approved: false } },
];

const reasonLengthMax = 2_000;

/** Asks the user at the terminal, one request after another. */
export function createQuestions(options: QuestionsOptions): Questions {
  const { err } = options;
  const done = new Set<string>();
  let waiting: readonly ApprovalRow[] = [];
  let open: { id: string; withdraw: AbortController } | null = null;
  let stopped = false;
  let asking: Promise<void> | null = null;

  const next = (): ApprovalRow | undefined => waiting.find((row) => !done.has(row.id));

  const ask = async (row: ApprovalRow): Promise<void> => {
    const withdraw = new AbortController();
    open = { id: row.id, withdraw };
    const answer = await askOne(row, options, withdraw.signal);
    open = null;
    done.add(row.id);
    if (answer !== null) err.line(await sendAnswer(row, answer, options));
    else
      err.line(withdraw.signal.aborted ? describeWithdrawn(stopped) : `  answer with: ${answerCommands(row).approve}`);
  };

  const askAll = async (): Promise<void> => {
    const release = options.hold();
    for (let row = next(); row && !stopped; row = next()) await ask(row);
    release();
    asking = null;
  };

  return {
    update(rows) {
      waiting = rows;
      if (open !== null && !rows.some((row) => row.id === open?.id)) open.withdraw.abort();
      if (!stopped && next()) asking ??= askAll();
    },
    async stop() {
      stopped = true;
      open?.withdraw.abort();
      await asking;
    },
  };
}

/** Null if the question was withdrawn or the input has ended. */
async function askOne(row: ApprovalRow, options: QuestionsOptions, signal: AbortSignal): Promise<Answer | null> {
  const { err, keyboard } = options;
  for (const line of questionLines(row, err)) err.line(line);
  // A request for a whole run has no tool, so `for this run` and `always` do not apply.
  const offered = row.tool === null ? choices.filter(({ key }) => "yn".includes(key)) : choices;
  err.line(`  ${offered.map(({ key, words }) => `${err.colours.bold(key)} ${words}`).join(" · ")}`);
  const key = await keyboard.readKey(offered.map((choice) => choice.key).join(""), signal);
  const answer = offered.find((choice) => choice.key === key)?.answer ?? null;
  if (answer === null || answer.approved) return answer;
  err.line("  why? (Enter for no reason)");
  const reason = await keyboard.readLine(signal);
  return reason === null ? null : { ...answer, reason: reason.trim().slice(0, reasonLengthMax) || null };
}

async function sendAnswer(row: ApprovalRow, answer: Answer, options: QuestionsOptions): Promise<string> {
  const { err, by } = options;
  try {
    const { outcome, approval } = await options.answer(row.id, ApprovalAnswer.parse({ by, ...answer }));
    if (outcome === "settled") return err.colours.dim(`  already ${approval.state}; nothing changed`);
    return answer.approved ? err.colours.green("  ✓ approved") : err.colours.yellow("  ✗ denied");
  } catch (error) {
    const { approve } = answerCommands(row);
    const why = cleanLine(error instanceof Error ? error.message : String(error));
    return err.colours.red(`  the answer was not accepted: ${why}; try: ${approve}`);
  }
}

function describeWithdrawn(stopped: boolean): string {
  return stopped ? "  not answered" : "  no answer is needed anymore";
}

/** Prints once for each request how to answer it, if the user cannot be asked here. */
export function createAnnouncements(notice: (text: string) => void): Questions {
  const announced = new Set<string>();
  return {
    update(waiting) {
      for (const row of waiting) {
        if (!announced.has(row.id)) notice(approvalLine(row));
        announced.add(row.id);
      }
    },
    stop: async () => {},
  };
}
