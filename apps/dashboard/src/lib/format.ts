const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * A duration in its two largest units. Negative durations, from clocks that differ, are 0.
 *
 * @example
 * formatDuration(187_000); // "3m 07s"
 */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < second) return `${Math.round(ms)}ms`;
  // Truncated, not rounded: 9 960 ms must not read as ten seconds.
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  return wholeSeconds(ms);
}

/** The duration of a run in progress, in whole seconds, so that it ticks evenly. */
export function formatElapsed(durationMs: number): string {
  return wholeSeconds(Math.max(0, durationMs));
}

/** An age in its largest unit. */
export function formatAge(ageMs: number): string {
  if (ageMs < 2 * second) return "now";
  if (ageMs < minute) return `${Math.floor(ageMs / second)}s ago`;
  if (ageMs < hour) return `${Math.floor(ageMs / minute)}m ago`;
  if (ageMs < day) return `${Math.floor(ageMs / hour)}h ago`;
  return `${Math.floor(ageMs / day)}d ago`;
}

/**
 * A count for a narrow column. Truncated, not rounded, so that 999 999 does not read as a million.
 *
 * @example
 * formatCount(12_345); // "12.3k"
 */
export function formatCount(count: number): string {
  if (count < 10_000) return count.toLocaleString("en-US");
  if (count < 1_000_000) return `${scaled(count, 1_000)}k`;
  return `${scaled(count, 1_000_000)}M`;
}

/**
 * A cost. An unknown cost reads as unknown, and only zero reads as zero.
 *
 * @example
 * formatCost(0.00234); // "$0.0023"
 */
export function formatCost(costUsd: number | null): string {
  if (costUsd === null) return "unknown";
  if (costUsd === 0) return "$0";
  if (costUsd < 0.0001) return "<$0.0001";
  const digits = costUsd < 0.01 ? 4 : costUsd < 1 ? 3 : 2;
  return `$${costUsd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

interface CostRow {
  costUsd: number | null;
  iterations: number;
  totalTokens: number;
  estimatedTokens?: number;
}

/** The cost of a run; a dash before its first model call. */
export function costText(run: CostRow): string {
  return run.costUsd === null && run.iterations === 0 && run.totalTokens === 0 ? "–" : markedCost(run);
}

/** The cost of a run or session, marked with ≈ if model calls without a reply are in it by estimate. */
export function markedCost({ costUsd, estimatedTokens = 0 }: Pick<CostRow, "costUsd" | "estimatedTokens">): string {
  return costUsd !== null && estimatedTokens > 0 ? `≈ ${formatCost(costUsd)}` : formatCost(costUsd);
}

/** The first line of a text, cut to a length. */
export function firstLine(text: string, charsMax = 240): string {
  const line =
    text
      .trimStart()
      .slice(0, charsMax * 4)
      .split(/\r?\n/, 1)[0] ?? "";
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}

/** The end of an id, where ids of the same moment differ. */
export function shortId(id: string): string {
  return id.slice(-8);
}

function wholeSeconds(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)}s`;
  if (ms < hour) return pair(ms, minute, "m", second, "s");
  if (ms < day) return pair(ms, hour, "h", minute, "m");
  return pair(ms, day, "d", hour, "h");
}

function pair(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)}${largeUnit} ${String(rest).padStart(2, "0")}${smallUnit}`;
}

function scaled(count: number, unit: number): string {
  return String(Math.floor((count / unit) * 10) / 10);
}

/**
 * Invisible characters: controls, changes of the writing direction, characters without width, and rare line ends. Line
 * feed and tab are not in this set.
 */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Makes invisible characters visible, so that a person approves exactly the text that they read.
 *
 * @example
 * reveal("rm \u202etxt.a"); // "rm ⟨U+202E⟩txt.a"
 */
export function reveal(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(invisible, (character) => {
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** @example formatBytes(2048); // "2.0 kB" */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
