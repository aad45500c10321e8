import type { TestCounts } from "@troupe/core/internal";

/** The result of a test runner. */
export interface TestReport {
  /** Null if the counts are not certain. */
  counts: TestCounts | null;
  failures: TestFailure[];
}

export interface TestFailure {
  name: string;
  /** The path as the runner prints it; null if it prints none. */
  file: string | null;
  line: number | null;
  message: string;
  /** The stack, or other text of the runner about the position. */
  trace: string;
}

/** Counts of finished tests; tests that did not run are `skipped`. */
export function countsOf({ passed = 0, failed = 0, skipped = 0 }: Partial<TestCounts>): TestCounts {
  return { run: passed + failed, passed, failed, skipped };
}

const failuresShown = 20;
const messageLinesMax = 12;
const lineCharactersMax = 300;
const traceLinesMax = 4;

/** Renders failures as text: name, position, message, and the stack frames in the workspace. */
export function failuresText(failures: readonly TestFailure[], workspace: string): string {
  const shown = failures.slice(0, failuresShown).map((failure) => failureText(failure, workspace));
  if (failures.length > failuresShown) shown.push(`and ${failures.length - failuresShown} more`);
  return shown.join("\n\n");
}

function failureText(failure: TestFailure, workspace: string): string {
  const within = (text: string): string => text.replaceAll(`file://${workspace}/`, "").replaceAll(`${workspace}/`, "");
  const frames = framesIn(failure.trace, workspace).map(within);
  const place = positionOf(failure, workspace);
  const message = within(failure.message).trim().split("\n");
  const rest = message.length > messageLinesMax ? ["…"] : [];
  const lines = [...message.slice(0, messageLinesMax), ...rest, ...frames.slice(0, traceLinesMax)];
  const body = lines.map((line) => `  ${line.trimEnd().slice(0, lineCharactersMax)}`);
  return [`✗ ${failure.name}${place === null ? "" : ` (${within(place)})`}`, ...body].join("\n");
}

/** Stack lines in the project's own files. */
function framesIn(trace: string, workspace: string): string[] {
  const lines = trace.split("\n").map((line) => line.trim());
  return lines.filter((line) => /:\d+/.test(line) && line.includes(workspace) && !line.includes("/node_modules/"));
}

function positionOf({ file, line, trace }: TestFailure, workspace: string): string | null {
  if (file !== null && line !== null) return `${file}:${line}`;
  const frame = framesIn(trace, workspace).find((candidate) => file === null || candidate.includes(file));
  const found = frame === undefined ? null : /((?:file:\/\/)?\/[^\s():]+):(\d+)/.exec(frame);
  return found ? `${found[1]}:${found[2]}` : file;
}
