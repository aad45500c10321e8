import type { RunRow } from "@troupe/core";
import type { SandboxFacts } from "troupe/internal";
import { cleanLine } from "./clean.ts";

/** Formats US dollars. An unknown cost is never shown as $0, and an estimated one is marked. */
export function formatCost(costUsd: number | null, { isEstimate = false } = {}): string {
  if (costUsd === null) return "cost unknown";
  return `${isEstimate ? "≈ " : ""}$${costUsd < 0.01 && costUsd > 0 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}

/** Formats a duration: `340 ms`, `3.4 s`, `2 m 05 s`, `1 h 02 m`, `3 d 04 h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, Math.round(durationMs));
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** Shortens ids at a dash to the shortest length at which they all differ. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const length = [8, 13, 18, 23].find((each) => new Set(ids.map((id) => id.slice(0, each))).size === new Set(ids).size);
  return (id) => id.slice(0, length ?? id.length);
}

/** The first part of a root run's id is its minute, which other runs share. The id of a sub-run is random. */
export function shortRunId({ run, parentRun }: Pick<RunRow, "run" | "parentRun">): string {
  return run.slice(0, parentRun === null ? 13 : 8);
}

/** The state of a sandbox that does not contain commands, with the fix. */
export function sandboxNote({ detail, fix }: Pick<SandboxFacts, "detail" | "fix">): string {
  return cleanLine(`${detail}${fix === null ? "" : `; to fix it: ${fix}`}`);
}
