import type { AgentProblem } from "@troupe/core/internal";

/** Where something stands in a file, counted from 1. */
export interface SourceLocation {
  line: number;
  column: number;
}

/** What a problem says, apart from where it is. */
export interface Finding {
  code: string;
  message: string;
  fix?: string;
}

/**
 * Collects what is wrong with one file. An error means that the file's agent is refused; with warnings alone it is
 * used.
 */
export interface Report {
  readonly problems: AgentProblem[];
  readonly failed: boolean;
  error(offset: number, finding: Finding): void;
  warn(offset: number, finding: Finding): void;
  placeAt(offset: number): SourceLocation;
}

export function createReport(path: string, text: string): Report {
  const problems: AgentProblem[] = [];
  let lineStarts: number[] | null = null;
  let failed = false;

  const placeAt = (offset: number): SourceLocation => {
    lineStarts ??= startsOfLines(text);
    const line = lastAtOrBefore(lineStarts, offset);
    return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
  };
  const add = (severity: AgentProblem["severity"], offset: number, { code, message, fix }: Finding): void => {
    problems.push({ path, ...placeAt(offset), severity, code, message, fix: fix ?? null });
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
    placeAt,
  };
}

/** A value as a message shows it: quoted, on one line, and short. */
export function show(value: unknown): string {
  const text = value === undefined ? "nothing" : typeof value === "number" ? String(value) : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function startsOfLines(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lastAtOrBefore(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
