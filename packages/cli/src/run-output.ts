import type { RunResponse, Submitted } from "@troupe/core";
import type { Cli } from "./cli.ts";
import type { OutputMode } from "./failure.ts";
import { cleanLine, cleanText, jsonLine } from "./render/clean.ts";
import { formatDuration } from "./render/duration.ts";
import { createProgress } from "./render/progress.ts";
import { statusLook } from "./render/status.ts";
import type { Colours, Terminal } from "./terminal.ts";
import type { ClientEvent } from "./troupe.ts";

/** Where a run's story goes: the answer alone on stdout, everything else on stderr. */
export interface RunOutput {
  submitted(submitted: Submitted): void;
  event(event: Exclude<ClientEvent, { type: "resync" }>): void;
  /** Something that the user should know while waiting. */
  notice(text: string): void;
  settled(response: RunResponse, submitted: Submitted): void;
}

export const demoLabel = "demo: scripted, offline; no model was called, $0";

export function createRunOutput(
  mode: OutputMode,
  { terminal, now, interrupts }: Pick<Cli, "terminal" | "now" | "interrupts">,
): RunOutput {
  if (mode === "stream-json") return streamOutput(terminal);
  const wasInterrupted = () => interrupts.exitCode() !== null;
  return textOutput(terminal, now, { json: mode === "json", wasInterrupted });
}

/** One object per line: `session`, then `change` and `live`, at last `result`. */
function streamOutput({ out, err }: Terminal): RunOutput {
  return {
    submitted(submitted) {
      if (submitted.demo) err.line(demoLabel);
      out.line(jsonLine({ event: "session", ...submitted }));
    },
    event(event) {
      if (event.type === "live") out.line(jsonLine({ event: "live", live: event.event }));
      else out.line(jsonLine({ event: "change", change: event.change }));
    },
    notice: (text) => err.line(text),
    settled: (response) => out.line(jsonLine({ event: "result", response })),
  };
}

function textOutput(
  { out, err }: Terminal,
  now: () => number,
  options: { json: boolean; wasInterrupted: () => boolean },
): RunOutput {
  const { colours } = err;
  const progress = createProgress({ width: err.width, colours, startedAt: now() });
  return {
    submitted(submitted) {
      if (submitted.demo) err.line(colours.yellow(demoLabel));
      err.line(colours.dim(`session ${submitted.session}  in ${cleanLine(submitted.workspace)}`));
    },
    event(event) {
      if (event.type !== "change") return;
      for (const line of progress.apply(event.change)) err.line(line);
    },
    notice: (text) => err.line(colours.dim(cleanLine(text))),
    settled(response, { demo }) {
      for (const line of closingLines(response, { demo, colours })) err.line(line);
      // Whoever has pressed Ctrl-C knows why it was cancelled.
      const expected = response.success || (response.status === "cancelled" && options.wasInterrupted());
      if (!expected) for (const line of errorLines(response, colours)) err.line(line);
      if (options.json) out.line(jsonLine(response));
      else if (hasAnswer(response)) {
        // Where both are the same screen, the answer stands apart from what led to it.
        if (err.isTerminal && out.isTerminal) err.line("");
        out.line(cleanText(response.details || response.summary).trimEnd());
      }
    },
  };
}

/** What was achieved before a limit is an answer as well; what a failed run says about itself is not. */
function hasAnswer(response: RunResponse): boolean {
  return ["completed", "bailed_out", "timeout"].includes(response.status);
}

function closingLines(response: RunResponse, { demo, colours }: { demo: boolean; colours: Colours }): string[] {
  const { subtree, durationMs } = response.metrics;
  const look = statusLook(response.status);
  const facts = [
    `${response.status.replaceAll("_", " ")} in ${formatDuration(durationMs)}`,
    subtree.runs === 1 ? "1 run" : `${subtree.runs} runs`,
    `${subtree.totalTokens.toLocaleString("en-US")} tokens`,
    demo ? "$0" : formatCost(subtree.costUsd),
  ];
  const warnings = response.warnings.map((warning) => `${colours.yellow("warning:")} ${cleanLine(warning)}`);
  return [`${look.paint(colours)(look.glyph)} ${colours.dim(facts.join(" · "))}`, ...warnings];
}

function errorLines(response: RunResponse, colours: Colours): string[] {
  const why = response.error?.message ?? response.bailoutReason ?? response.summary;
  return [
    `${colours.red(colours.bold("error:"))} the run ${endedHow(response)}`,
    ...(why ? [`${colours.dim("why:")}   ${cleanLine(why)}`] : []),
    `${colours.green("fix:")}   troupe sessions show ${response.sessionId} --tree`,
  ];
}

function endedHow(response: RunResponse): string {
  if (response.status === "bailed_out") return `stopped at a limit (${response.bailoutReason ?? "unknown"})`;
  if (response.status === "timeout") return "ran out of time";
  if (response.status === "cancelled") return "was cancelled";
  return response.status;
}

/** An unknown price is never shown as nothing. */
function formatCost(costUsd: number | null): string {
  if (costUsd === null) return "cost unknown";
  return `$${costUsd < 0.01 && costUsd > 0 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}
