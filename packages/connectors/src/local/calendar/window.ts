import { ConnectorError } from "../../ports/connector-error.ts";
import type { Bound } from "../database/office-database.ts";
import { horizonMs, longMs } from "./event-store.ts";

/** A span of a query, in ms since 1970. */
export interface QueryWindow {
  fromMs: number;
  toMs: number;
}

const windowMsMax = 5 * 366 * 86_400_000;

/** Throws `params` for a span that is empty, too long, or too far ahead. */
export function parseWindow({ from, to }: { from: string; to: string }, nowMs: number): QueryWindow {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  if (toMs <= fromMs) throw new ConnectorError("params", `to (${to}) is not after from (${from})`, { param: "to" });
  if (toMs - fromMs > windowMsMax) {
    throw new ConnectorError("params", "from and to are more than five years apart", { param: "to" });
  }
  if (toMs > nowMs + horizonMs) {
    throw new ConnectorError("params", `to (${to}) is more than ten years ahead`, { param: "to" });
  }
  return { fromMs, toMs };
}

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
