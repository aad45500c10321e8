const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * A duration in the two units that matter. Negative ones (clocks of two machines) are 0.
 *
 * @example
 * formatDuration(187_000); // "3m 07s"
 */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  if (ms < second) return `${Math.round(ms)}ms`;
  // Cut, not rounded: 9 960 ms is not yet ten seconds, and 59.9 s is not yet a minute.
  if (ms < 10 * second) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  return coarse(ms);
}

/** The same for what still runs: whole seconds, so that it ticks instead of trembling. */
export function formatElapsed(durationMs: number): string {
  return coarse(Math.max(0, durationMs));
}

/** How long ago, in one unit. */
export function formatAge(ageMs: number): string {
  if (ageMs < 2 * second) return "now";
  if (ageMs < minute) return `${Math.floor(ageMs / second)}s ago`;
  if (ageMs < hour) return `${Math.floor(ageMs / minute)}m ago`;
  if (ageMs < day) return `${Math.floor(ageMs / hour)}h ago`;
  return `${Math.floor(ageMs / day)}d ago`;
}

/**
 * A count that fits a narrow column. Cut, not rounded, so that 999 999 never reads as a million.
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
 * An amount of money: what is unknown is said to be, and nothing that was spent reads as zero.
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

/** What a run has cost. Before its first model call there is nothing to know. */
export function costWords(run: { costUsd: number | null; iterations: number; totalTokens: number }): string {
  return run.costUsd === null && run.iterations === 0 && run.totalTokens === 0 ? "–" : formatCost(run.costUsd);
}

/** The first line of a text, cut for a row that shows one line of it anyway. */
export function firstLine(text: string, charsMax = 240): string {
  const line =
    text
      .trimStart()
      .slice(0, charsMax * 4)
      .split(/\r?\n/, 1)[0] ?? "";
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}

/** Ids are long: enough of the end, where two of one moment differ. */
export function shortId(id: string): string {
  return id.slice(-8);
}

function coarse(ms: number): string {
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
