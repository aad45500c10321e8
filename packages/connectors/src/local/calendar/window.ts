import type { QueryWindow } from "../../time/query-window.ts";
import type { Bound } from "../database/office-database.ts";
import { longMs } from "./event-store.ts";

/** The common table `hits`: all occurrences that touch a window. Pass `windowValues` first. */
export const windowHits = `WITH hits AS (
  SELECT event, original_ms, start_ms, end_ms FROM occurrences
    WHERE is_long = 0 AND start_ms >= ? AND start_ms < ? AND (end_ms > ? OR start_ms = ?)
  UNION ALL
  SELECT event, original_ms, start_ms, end_ms FROM occurrences WHERE is_long = 1 AND start_ms < ? AND end_ms > ?
)`;

export function windowValues({ fromMs, toMs }: QueryWindow): Bound[] {
  return [fromMs - longMs, toMs, fromMs, fromMs, toMs, fromMs];
}
