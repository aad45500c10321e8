import { z } from "zod";
import { readTimeRange } from "../../phrases/read-time-range.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { toIso } from "../../time/zoned-instant.ts";
import { Instant } from "../text/arguments.ts";

/** Fields that name a span of time. */
export const rangeFields = {
  time_range: z
    .string()
    .min(1)
    .max(100)
    .nullable()
    .default(null)
    .describe("Like 7d, 24h, 2w, or last week. Default: 7d"),
  since: Instant.nullable().default(null),
  until: Instant.nullable().default(null),
};

const rangeDefault = "7d";

/** The span of a request. `since` and `until` come before `time_range`. */
export async function readRange(
  { time_range, since, until }: { time_range: string | null; since: string | null; until: string | null },
  { nowMs, timeZone }: { nowMs: number; timeZone: string },
): Promise<{ from: string; to: string }> {
  if (time_range !== null && since !== null) {
    throw new ConnectorError("params", "time_range and since name two spans", {
      param: "time_range",
      fix: "give one of them",
    });
  }
  if (since !== null) return checked({ from: since, to: until ?? toIso(nowMs) });
  const text = time_range ?? rangeDefault;
  const scope = { nowMs: until === null ? nowMs : Date.parse(until), timeZone, direction: "past" as const };
  const range = await readTimeRange(text, scope);
  if (range !== null) return checked({ from: range.from, to: until ?? range.to });
  throw new ConnectorError("params", `${JSON.stringify(text)} is not a span of time`, {
    param: "time_range",
    fix: "write it like 7d, 24h or 2w",
  });
}

function checked(range: { from: string; to: string }): { from: string; to: string } {
  if (Date.parse(range.to) > Date.parse(range.from)) return range;
  throw new ConnectorError("params", `until, ${range.to}, is not after ${range.from}`, { param: "until" });
}
