import { TroupeError } from "../errors.ts";
import { didYouMean } from "./nearest-names.ts";

const listedMax = 20;

/**
 * The error for an agent that does not exist: lists the known agents if they are few. The fix suggests the most similar one.
 *
 * @param problem what is wrong, if it is more than a wrong name
 * @example
 * unknownAgent("codr", ["main", "coder"]).fix; // "did you mean coder?"
 */
export function unknownAgent(
  id: string,
  known: readonly string[],
  problem = `there is no agent ${JSON.stringify(id)}`,
): TroupeError {
  return new TroupeError("UNKNOWN_AGENT", `${problem}; available: ${shortList(known)}`, {
    fix: didYouMean(id, known) ?? "troupe agents ls",
  });
}

/** The names with commas between them, and only the number of those after the twentieth. */
export function shortList(known: readonly string[]): string {
  if (known.length === 0) return "none";
  const others = known.length - listedMax;
  return others > 0 ? `${known.slice(0, listedMax).join(", ")} and ${others} more` : known.join(", ");
}
