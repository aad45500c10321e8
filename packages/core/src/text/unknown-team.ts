import { TroupeError } from "../errors.ts";
import { didYouMean } from "./nearest-names.ts";
import { shortList } from "./unknown-agent.ts";

/**
 * The error for a team that does not exist: lists the known teams. The fix suggests the most similar one.
 *
 * @example
 * unknownTeam("codng", ["coding", "review"]).fix; // "did you mean coding?"
 */
export function unknownTeam(name: string, known: readonly string[]): TroupeError {
  return new TroupeError("UNKNOWN_TEAM", `there is no team ${JSON.stringify(name)}; available: ${shortList(known)}`, {
    fix: didYouMean(name, known) ?? "troupe teams ls",
  });
}
