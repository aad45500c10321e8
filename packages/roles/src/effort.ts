import { Effort } from "@troupe/core/internal";
import { nearest } from "./nearest.ts";
import { type Report, show } from "./report.ts";
import type { Field } from "./yaml-fields.ts";

/** The next one below, where a word has no place of its own here: nothing does more than was asked for. */
const otherWords: Readonly<Record<string, Effort>> = { minimal: "low", xhigh: "high" };

/** Where a number ends that means this much; up to 100 it is a share, above that a count of tokens to think with. */
const shares = [
  { most: 0, effort: "none" },
  { most: 33, effort: "low" },
  { most: 66, effort: "medium" },
  { most: 99, effort: "high" },
  { most: 100, effort: "max" },
  { most: 4_096, effort: "low" },
  { most: 16_384, effort: "medium" },
  { most: 32_768, effort: "high" },
  { most: Number.POSITIVE_INFINITY, effort: "max" },
] as const;

/** How hard an agent's model is to think; null where its file does not say, or says it wrongly: the report tells. */
export function readEffort(field: Field | undefined, report: Report): Effort | null {
  if (!field || field.value === null) return null;
  const { value } = field;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) {
    return shares.find(({ most }) => value <= most)?.effort ?? null;
  }
  const word = String(value).toLowerCase();
  const known = Effort.safeParse(word);
  if (typeof value === "string" && known.success) return known.data;
  if (Object.hasOwn(otherWords, word)) return otherWords[word] ?? null;
  const meant = nearest(word, [...Effort.options, "xhigh"]);
  report.error(field.valueOffset, {
    code: "invalid-value",
    message: `effort is ${show(value)}; wanted is ${Effort.options.join(", ")}, or a whole number`,
    fix: meant ? `did you mean ${meant}?` : "write effort: medium, or remove the line",
  });
  return null;
}
