import type { Figure } from "./benchmark.ts";

/** Width of the longest description. Lines are printed before the later figures are known. */
const whatWidth = 80;

/** A figure as a line of text: its median, its range, and whether it meets its aim. */
export function figureLine({ what, values, unit, aim }: Figure): string {
  const value = median(values);
  const [least, most] = [Math.min(...values), Math.max(...values)].map(shown);
  const range = least === most ? "" : `${least} – ${most}`;
  const assessment = aim === undefined ? "" : `aim ≤ ${aim} ${unit}: ${value <= aim ? "met" : "MISSED"}`;
  const cells = [what.padEnd(whatWidth), `${shown(value).padStart(7)} ${unit.padEnd(2)}`, range.padEnd(17), assessment];
  return cells.join("  ").trimEnd();
}

function shown(value: number): string {
  if (Number.isInteger(value)) return value.toString();
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
