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
