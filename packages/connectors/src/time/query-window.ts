import { ConnectorError } from "../ports/connector-error.ts";

/** A span of a query, in ms since 1970. */
export interface QueryWindow {
  fromMs: number;
  toMs: number;
}

/** No query looks further ahead of now than this. */
export const horizonMs = 10 * 366 * 86_400_000;
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
