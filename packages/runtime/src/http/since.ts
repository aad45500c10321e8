import { TroupeError } from "@troupe/core";
import { parseDuration } from "@troupe/core/internal";
import type { Context } from "hono";
import type { HttpEnv } from "./input.ts";

/** Reads `since` from the query: a duration before now, or a time. Null without it. */
export function readSince(context: Context<HttpEnv>): number | null {
  const text = context.req.query("since");
  if (text === undefined || text === "") return null;
  const durationMs = parseDuration(text);
  const sinceMs = durationMs === null ? Date.parse(text) : Date.now() - durationMs;
  // A time outside of these bounds has no ISO form with four digits of a year.
  if (sinceMs >= 0 && sinceMs < Date.UTC(9_999, 0)) return sinceMs;
  throw new TroupeError("USAGE", `since is ${JSON.stringify(text)}`, {
    fix: "use a duration such as 7d or 12h, or a time such as 2026-01-31T08:00:00Z",
  });
}
