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
    problems,
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
