import { basename } from "node:path";
import { type AgentProblem, lastAtMost } from "@troupe/core/internal";

/** A position in a file. Lines and columns start at 1. */
export interface SourceLocation {
  line: number;
  column: number;
}

/** A problem without its location. */
export interface Finding {
  code: string;
  message: string;
  fix?: string;
}

/** Collects the problems of one file. An error makes the agent unusable; a warning does not. */
export interface ProblemReport {
  readonly problems: AgentProblem[];
  readonly failed: boolean;
  /** The name of the file, for messages. */
  readonly fileName: string;
  error(offset: number, finding: Finding): void;
  warn(offset: number, finding: Finding): void;
  locationAt(offset: number): SourceLocation;
}

export function createProblemReport(path: string, text: string): ProblemReport {
  const problems: AgentProblem[] = [];
  let lineStarts: number[] | null = null;
  let failed = false;

  const locationAt = (offset: number): SourceLocation => {
    lineStarts ??= findLineStarts(text);
    const line = lastAtMost(lineStarts, offset);
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
  const add = (severity: AgentProblem["severity"], offset: number, { code, message, fix }: Finding): void => {
    problems.push({ path, ...locationAt(offset), severity, code, message, fix: fix ?? null });
  };

  return {
    get problems() {
      return capProblems(problems);
    },
    fileName: basename(path),
    get failed() {
      return failed;
    },
    error(offset, finding) {
      failed = true;
      add("error", offset, finding);
    },
    warn(offset, finding) {
      add("warning", offset, finding);
    },
    locationAt,
  };
}

/** The most problems that are listed for one file. */
export const problemsMax = 50;

/**
 * The problems of one file without the ones over the limit, and a last one with their number. Errors come before
 * warnings.
 */
export function capProblems(problems: readonly AgentProblem[]): AgentProblem[] {
  if (problems.length <= problemsMax) return [...problems];
  const errors = problems.filter(({ severity }) => severity === "error");
  const listed = new Set([...errors, ...problems].slice(0, problemsMax));
  // Errors can be in both parts, so the set can be smaller than the limit.
  for (const problem of problems) if (listed.size < problemsMax) listed.add(problem);
  const rest = problems.filter((problem) => !listed.has(problem));
  const [first] = rest;
  if (!first) return [...listed];
  const count = rest.filter(({ severity }) => severity === "error").length;
  const isError = count > 0;
  const summary: AgentProblem = {
    ...first,
    severity: isError ? "error" : "warning",
    code: "more-problems",
    message: `${rest.length} more problems in this file are not listed${isError ? `, ${count} of them errors` : ""}`,
    fix: "correct the listed problems, then check the file again",
  };
  return [...problems.filter((problem) => listed.has(problem)), summary];
}

/** Renders a value for a message: quoted, on one line, and short. */
export function formatValue(value: unknown): string {
  const text = value === undefined ? "nothing" : typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
