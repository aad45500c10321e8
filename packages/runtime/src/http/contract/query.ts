import { parseDuration } from "@troupe/core/internal";
import { z } from "zod";

/** A whole number in a query. */
export function wholeNumber(options: { min: number; max: number; otherwise: number; about: string }) {
  const { min, max, otherwise, about } = options;
  const fix = `use a whole number from ${min} to ${max}`;
  return z.int(fix).min(min, fix).max(max, fix).default(otherwise).meta({ description: about });
}

/** A duration in a query, such as `30d`. The handler gets milliseconds. */
export function duration(options: { min: number; max: number; otherwise: string; about: string }) {
  const { min, max, otherwise, about } = options;
  const fix = `use a duration such as 30d or 12h, from ${min} to ${max} milliseconds`;
  return z
    .string()
    .transform((text, context) => {
      const value = parseDuration(text);
      if (value !== null && value >= min && value <= max) return value;
      context.addIssue({ code: "custom", message: fix });
      return z.NEVER;
    })
    .prefault(otherwise)
    .meta({ description: about });
}

const sinceFix = "use a duration such as 7d or 12h, or a time such as 2026-01-31T08:00:00Z";

/** The time to look back to. The handler gets milliseconds since 1970, or null. */
export const Since = z
  .string(sinceFix)
  .transform((text, context) => {
    if (text === "") return null;
    const durationMs = parseDuration(text);
    const sinceMs = durationMs === null ? Date.parse(text) : Date.now() - durationMs;
    // A time outside of these bounds has no ISO form with four digits of a year.
    if (sinceMs >= 0 && sinceMs < Date.UTC(9_999, 0)) return sinceMs;
    context.addIssue({ code: "custom", message: sinceFix });
    return z.NEVER;
  })
  .optional()
  .meta({ description: "How far back: a duration such as `7d`, or a time such as `2026-01-31T08:00:00Z`." });

/** The position after which a page or a stream starts. */
export function startAfter(about: string) {
  const fix = `use a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`;
  return z.int(fix).min(0, fix).optional().meta({ description: about });
}

/** A page of rows that have an increasing id. */
export const RowPage = z.object({
  after: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0, about: "The `next` of the page before." }),
  limit: wholeNumber({ min: 1, max: 1_000, otherwise: 100, about: "The most rows of a page." }),
});

/** The folder whose agents and teams count, besides those of the user. */
export const Workspace = z
  .string()
  .optional()
  .meta({ description: "An absolute folder, whose agents and teams count too if it is trusted." });
