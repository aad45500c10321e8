import { z } from "zod";

/** A duration: milliseconds, or a text such as `250ms`, `30s`, `5m`, `2h` or `1h30m`. */
export type Duration = number | string;

/** The accepted texts, for errors and help. */
export const durationForms = "milliseconds, or a duration such as 250ms, 30s, 5m, 2h or 1h30m";

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;
const pattern = new RegExp(`^${units.map(([unit]) => `(?:(\\d+)${unit})?`).join("")}$`);

/**
 * The milliseconds of a duration: whole numbers with units, the largest unit first, or whole milliseconds without a unit.
 * Null for any other text.
 *
 * @example
 * parseDuration("1h30m"); // 5_400_000
 */
export function parseDuration(text: string): number | null {
  const given = text.trim();
  const counts = /^\d+$/.test(given) ? ["", "", "", "", given] : pattern.exec(given)?.slice(1);
  if (given === "" || !counts) return null;
  const milliseconds = units.reduce((sum, [, unitMs], i) => sum + Number(counts[i] || 0) * unitMs, 0);
  return Number.isSafeInteger(milliseconds) ? milliseconds : null;
}

/** Longer texts are not repeated in errors: they could be a key in the wrong place. */
const shownLengthMax = 20;

/**
 * A schema of milliseconds that accepts a duration as text too. Its output is always a number.
 *
 * @example
 * durationSchema(z.int().positive()).parse("5m"); // 300_000
 */
export function durationSchema<S extends z.ZodType<number, number>>(milliseconds: S) {
  return z
    .custom<Duration>()
    .meta({ type: ["integer", "string"], description: durationForms })
    .transform((given, context): number => {
      if (typeof given !== "string") return given;
      const parsed = parseDuration(given);
      if (parsed !== null) return parsed;
      const expected = `expected ${durationForms}`;
      const shown = given.length <= shownLengthMax ? JSON.stringify(given) : "the text";
      const message = `${shown} is not a duration; ${expected}`;
      context.issues.push({ code: "custom", input: given, message, params: { expected } });
      return z.NEVER;
    })
    .pipe(milliseconds);
}

/** The expected value of an issue that `durationSchema` reports, for errors that show the value themselves; else null. */
export function expectedDuration(issue: z.core.$ZodIssue): string | null {
  const expected: unknown = issue.code === "custom" ? issue.params?.expected : null;
  return typeof expected === "string" ? expected : null;
}
