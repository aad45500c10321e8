import type { Json } from "@troupe/core";

type Detail = Record<string, Json>;

/** Fields that grow from part to part; of all others the newest counts. */
const growing = new Set(["text", "summary", "data"]);

/**
 * OpenRouter's `reasoning_details`, put together from their parts: what goes on with the same index and type is one.
 */
export function mergeDetails(details: Detail[], parts: readonly Detail[]): void {
  for (const part of parts) {
    const last = details.at(-1);
    const goesOn =
      last !== undefined && part.index !== undefined && last.index === part.index && last.type === part.type;
    if (goesOn) details[details.length - 1] = joined(last, part);
    else details.push(part);
  }
}

function joined(before: Detail, part: Detail): Detail {
  const whole = { ...before };
  for (const [key, value] of Object.entries(part)) {
    const old = before[key];
    if (growing.has(key) && typeof old === "string" && typeof value === "string") whole[key] = old + value;
    else if (value !== null) whole[key] = value;
  }
  return whole;
}
