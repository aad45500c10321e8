import type { AgentProblem } from "@troupe/core/internal";
import type { Output } from "../terminal/terminal.ts";
import { cleanLine } from "./clean.ts";

/** A problem in a file of an agent or team. `path:line:column:` becomes a link in editors and CI. */
export function problemLines(problem: AgentProblem, { colours }: Output): string[] {
  const paint = problem.severity === "error" ? colours.red : colours.yellow;
  const position = `${cleanLine(problem.path)}:${problem.line}:${problem.column}:`;
  const line = `${position} ${paint(problem.severity)} ${cleanLine(problem.message)} ${colours.dim(`[${problem.code}]`)}`;
  return problem.fix ? [line, `  ${colours.green("fix:")} ${cleanLine(problem.fix)}`] : [line];
}

/** `1 error`, `2 errors`. */
export function countOf(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
