import type { ApprovalRow, RunResponse, RunRow } from "@troupe/core";
import { estimatedCallWarning, lostCallWarning, type RecordChange, type Submitted } from "@troupe/core/internal";
import { describeAgent, describeStatus } from "@troupe/core/texts";
import type { Cli } from "../cli.ts";
import { answerCommands, questionLines } from "../render/approval.ts";
import { cleanLine, cleanText, jsonLine } from "../render/clean.ts";
import type { OutputMode } from "../render/failure.ts";
import { formatCost, formatDuration } from "../render/format.ts";
import { createProgress } from "../render/progress.ts";
import { statusStyle } from "../render/status.ts";
import type { Colours, Output, Terminal } from "../terminal/terminal.ts";
import type { ClientEvent } from "./client.ts";
import { createLiveScreen } from "./live-screen.ts";

/** Output of `troupe run`: only the answer on stdout, everything else on stderr. */
export interface RunOutput {
  submitted(submitted: Submitted): void;
  event(event: Exclude<ClientEvent, { type: "resync" }>): void;
  /** A message for the user. */
  notice(text: string): void;
  /** Holds back progress lines while the user answers a question. The returned function prints them. */
  hold(): () => void;
  settled(response: RunResponse, submitted: Submitted): void;
  /** The same without the answer, for commands that print it themselves. */
  closed(response: RunResponse, submitted: Submitted): void;
  /** Instead of `settled`: the session waits only for a person. */
  waiting(left: WaitingSession): void;
}

/** A session that waits for a person who cannot be asked here. */
export interface WaitingSession {
  session: string;
  approvals: ApprovalRow[];
  paused: RunRow[];
  /** True if another process keeps running it. */
  stays: boolean;
}

export const demoLabel = "demo: scripted, offline; no model was called, $0";

/** @param options.quiet print the answer and errors only */
export function createRunOutput(
  mode: OutputMode,
  { terminal, now, interrupts }: Pick<Cli, "terminal" | "now" | "interrupts">,
  { quiet = false } = {},
): RunOutput {
  if (mode === "stream-json") return streamOutput(terminal);
  const wasInterrupted = () => interrupts.exitCode() !== null;
  return textOutput(terminal, now, { json: mode === "json", quiet, wasInterrupted });
}

/** One object per line: `session`, then `change`, `approval` and `live`, finally `result` or `waiting`. */
function streamOutput({ out, err }: Terminal): RunOutput {
  return {
    submitted(submitted) {
      if (submitted.demo) err.line(demoLabel);
      out.line(jsonLine({ event: "session", ...submitted }));
    },
    event(event) {
      if (event.type === "live") out.line(jsonLine({ event: "live", live: event.event }));
      else for (const line of linesOfChange(event.change)) out.line(jsonLine(line));
    },
    notice: (text) => err.line(text),
    hold: () => () => {},
    settled: (response) => out.line(jsonLine({ event: "result", response })),
    closed: () => {},
    waiting: (left) => out.line(jsonLine({ event: "waiting", ...waitingFacts(left) })),
  };
}

function linesOfChange(change: RecordChange): object[] {
  return [{ event: "change", change }, ...change.approvals.map((approval) => ({ event: "approval", approval }))];
}

function waitingFacts({ session, approvals }: WaitingSession) {
  return { status: "waiting", session, approvals };
}

function textOutput(
  { out, err }: Terminal,
  now: () => number,
  options: { json: boolean; quiet: boolean; wasInterrupted: () => boolean },
): RunOutput {
  const { colours } = err;
  const { quiet } = options;
  const progress = createProgress({ width: err.width, colours, startedAt: now() });
  const screen = quiet ? null : createLiveScreen(err, now);
  let heldLines: string[] | null = null;
  const closed: RunOutput["closed"] = (response, { demo }) => {
    screen?.stop();
    if (!quiet) for (const line of closingLines(response, { demo, colours })) err.line(line);
    // After Ctrl-C the user knows why the session was cancelled.
    const expected = response.success || (response.status === "cancelled" && options.wasInterrupted());
    if (!expected) for (const line of errorLines(response, colours)) err.line(line);
  };
  return {
    submitted(submitted) {
      if (quiet) return;
      if (submitted.demo) err.line(colours.yellow(demoLabel));
      err.line(colours.dim(`session ${submitted.session}  in ${cleanLine(submitted.workspace)}`));
    },
    event(event) {
      if (quiet) return;
      screen?.event(event);
      const lines = event.type === "change" ? progress.apply(event.change) : progress.live(event.event, now());
      for (const line of lines) heldLines ? heldLines.push(line) : err.line(line);
    },
    hold() {
      heldLines = [];
      const show = screen?.hide();
      return () => {
        for (const line of heldLines ?? []) err.line(line);
        heldLines = null;
        show?.();
      };
    },
    notice(text) {
      if (!quiet) err.line(colours.dim(cleanLine(text)));
    },
    closed,
    settled(response, submitted) {
      closed(response, submitted);
      if (options.json) out.line(jsonLine(response));
      else if (hasAnswer(response)) {
        // On one screen, an empty line separates the answer from the progress.
        if (err.isTerminal && out.isTerminal) err.line("");
        out.line(cleanText(response.details || response.summary).trimEnd());
      }
    },
    waiting(left) {
      screen?.stop();
      for (const line of waitingLines(left, err)) err.line(line);
      if (options.json) out.line(jsonLine(waitingFacts(left)));
    },
  };
}

function waitingLines({ session, approvals, paused, stays }: WaitingSession, err: Output): string[] {
  const { colours } = err;
  const questions = approvals.flatMap((row) => {
    const { approve, deny } = answerCommands(row);
    return [...questionLines(row, err), `  ${colours.green(approve)}`, `  ${colours.green(deny)}`];
  });
  const rest = paused.map(
    (run) => `‖ ${cleanLine(describeAgent(run))} is paused: ${colours.green(`troupe resume ${run.run}`)}`,
  );
  const then = stays
    ? "it continues after your answer"
    : `it continues after your answer and: ${colours.green("troupe up")}`;
  return [...questions, ...rest, `session ${session} waits for you; ${then}`];
}

/** A run that reached a limit has a partial answer. A failed run has none. */
function hasAnswer(response: RunResponse): boolean {
  return ["completed", "bailed_out", "timeout"].includes(response.status);
}

const lostCallWarnings = [lostCallWarning, estimatedCallWarning];

function closingLines(response: RunResponse, { demo, colours }: { demo: boolean; colours: Colours }): string[] {
  const { subtree, durationMs } = response.metrics;
  const style = statusStyle(response.status);
  const facts = [
    `${describeStatus({ exactStatus: response.status, answerOnly: response.answerOnly })} in ${formatDuration(durationMs)}`,
    subtree.runs === 1 ? "1 run" : `${subtree.runs} runs`,
    `${subtree.totalTokens.toLocaleString("en-US")} tokens`,
    demo ? "$0" : formatCost(subtree.costUsd, { isEstimate: subtree.estimated !== undefined }),
    ...(response.confidence === null ? [] : [`confidence ${Math.round(response.confidence * 100)} %`]),
  ];
  // A warning about a lost call warns of its costs, and a call of the demo costs nothing.
  const apt = demo ? response.warnings.filter((warning) => !lostCallWarnings.includes(warning)) : response.warnings;
  const warnings = apt.map((warning) => `${colours.yellow("warning:")} ${cleanLine(warning)}`);
  return [`${style.paint(colours)(style.glyph)} ${colours.dim(facts.join(" · "))}`, ...warnings];
}

function errorLines(response: RunResponse, colours: Colours): string[] {
  const why = response.error?.message ?? response.bailoutReason ?? response.summary;
  return [
    `${colours.red(colours.bold("error:"))} the run ${describeEnd(response)}`,
    ...(why ? [`${colours.dim("why:")}   ${cleanLine(why)}`] : []),
    `${colours.green("fix:")}   troupe sessions show ${response.sessionId} --tree`,
  ];
}

function describeEnd(response: RunResponse): string {
  if (response.status === "bailed_out") return `stopped at a limit (${response.bailoutReason ?? "unknown"})`;
  if (response.status === "timeout") return "ran out of time";
  if (response.status === "cancelled") return "was cancelled";
  return response.status;
}
