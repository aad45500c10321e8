import type { Entry } from "../protocol/entry.ts";
import { resultsOf } from "./agent/result-placeholders.ts";
import { replayAgent } from "./replay.ts";

/**
 * What a call of a run gave its model to read, word for word, whatever has become of it in the conversation since; null
 * where there is no such result, or not yet.
 *
 * @example
 * const entries = (await journal.readRun(session, run)).map(openEntry);
 * readResult(entries, "3/0"); // the first call of the third turn
 */
export function readResult(entries: readonly Entry[], reference: string): string | null {
  const step = Number(reference.split("/")[0]);
  // Results are put before the model together, and nothing of a later step precedes that.
  const end = entries.findIndex((entry) => "step" in entry && entry.step > step);
  const conversation = replayAgent(end === -1 ? entries : entries.slice(0, end));
  return resultsOf(conversation).find((result) => result.reference === reference)?.message.text ?? null;
}
