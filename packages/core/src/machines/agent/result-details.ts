import type { DetailsOf } from "../../delegation/result.ts";
import type { RunResponse } from "../../protocol/response.ts";
import { sectionsOf, withoutSections } from "./answer-sections.ts";

/** Sections of an answer that a result has as fields of their own. */
type Field = "summary" | "warnings" | "suggestions" | "confidence";

/** The details that a model reads in the results of a batch. */
export function detailsIn({ readsTextOnce = false }: { readsTextOnce?: boolean }): DetailsOf {
  return readsTextOnce ? uniqueDetails : ({ details }) => details;
}

/**
 * The details of a response without the text of its other fields: the summary, and the sections that a result has as lists.
 * Empty if the other fields say everything. A section stays if its field has less than the section, because it was cut.
 * The response and the record keep both.
 */
export function uniqueDetails(response: Pick<RunResponse, "details" | Field>): string {
  const { details, summary, warnings, suggestions, confidence } = response;
  if (details.trim() === summary.trim()) return "";
  const sections = sectionsOf(details);
  const isRepeated: Record<Field, boolean> = {
    summary: sections.summary !== "" && sections.summary === summary,
    warnings: areIn(sections.warnings, warnings),
    suggestions: areIn(sections.suggestions, suggestions),
    confidence: sections.confidence !== null && sections.confidence === confidence,
  };
  const names = (Object.keys(isRepeated) as Field[]).filter((name) => isRepeated[name]);
  return names.length === 0 ? details : withoutSections(details, names);
}

function areIn(items: readonly string[], list: readonly string[]): boolean {
  return items.length > 0 && items.every((item) => list.includes(item));
}
