import type { ExecutionPlan, PlanResult } from "@troupe/core/internal";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine } from "./clean.ts";
import { formatCost, formatDuration } from "./format.ts";
import { type Cell, layout } from "./layout.ts";
import { statusStyle } from "./status.ts";

/** A plan for people: its goal, and a row for each step. */
export function planLines({ goal, team, steps }: ExecutionPlan, { width, colours }: Output): string[] {
  const head: Cell[] = ["STEP", "AGENT", "AFTER", "REVIEW", "TITLE"].map((text) => ({ text, paint: colours.dim }));
  const rows = steps.map(({ id, agent, after, review, title }): Cell[] => [
    { text: id, paint: colours.bold },
    { text: agent },
    { text: after.join(", ") || "–" },
    { text: review ? "yes" : "–" },
    { text: cleanLine(title) },
  ]);
  const of = team === undefined ? "" : ` (team ${team})`;
  return [
    `${colours.bold("Goal:")} ${cleanLine(goal)}${of}`,
    ...layout([{}, {}, {}, {}, { flexible: true }], [head, ...rows], width),
  ];
}

/** The result of a plan for people: a row for each step, and the sums. */
export function planResultLines({ steps, totals }: PlanResult, { width, colours }: Output): string[] {
  const head: Cell[] = ["", "STEP", "AGENT", "STATUS", "RUNS", "CALLS", "TIME", "RESULT"].map((text) => ({
    text,
    paint: colours.dim,
  }));
  const rows = steps.map(({ id, agent, status, usage, error, summary, approved }): Cell[] => {
    const style = statusStyle(status === "skipped" ? "cancelled" : status);
    const paint = style.paint(colours);
    return [
      { text: style.glyph, paint },
      { text: id, paint: colours.bold },
      { text: agent },
      { text: approved === true ? `${status}, approved` : status, paint },
      { text: String(usage.runs) },
      { text: String(usage.toolCalls) },
      { text: usage.runs === 0 ? "–" : formatDuration(usage.durationMs) },
      { text: cleanLine(error ?? summary) },
    ];
  });
  const completed = steps.filter(({ status }) => status === "completed").length;
  const right = { align: "right" as const };
  const sums = [
    `${completed} of ${steps.length} steps completed`,
    `${totals.runs} runs`,
    `${totals.toolCalls} tool calls`,
    `${totals.totalTokens.toLocaleString("en-US")} tokens`,
    formatCost(totals.costUsd),
  ];
  return [
    ...layout([{}, {}, {}, {}, right, right, right, { flexible: true }], [head, ...rows], width),
    colours.dim(sums.join(" · ")),
  ];
}
