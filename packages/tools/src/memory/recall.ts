import { type Blobs, type Entry, type Journal, RunFailure } from "@troupe/core";
import { openEntry, readResult, recallToolName } from "@troupe/core/internal";
import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";

export interface RecallOptions {
  /** Where the results of runs are. */
  journal: Pick<Journal, "readRun">;
  /** Where outputs are kept that were too large to be shown whole. @default what was shown of them is given back */
  blobs?: Pick<Blobs, "get">;
}

const lengthMax = 60_000;

/**
 * The tool that gives a run one of its own results back, once a reference stands for it in the conversation. It sees the
 * journal of the run that calls it, and no other.
 *
 * @example
 * const tools = [...createFileTools({ journal }), createRecallTool({ journal, blobs })];
 */
export function createRecallTool({ journal, blobs }: RecallOptions): Tool {
  return defineTool({
    name: recallToolName,
    description:
      "Gives back the result of an earlier tool call of yours that was taken out of the conversation to make room, or " +
      "was too long to be shown whole. A long one comes in parts: ask for the next with from.",
    input: z.strictObject({
      result: z
        .string()
        .regex(/^[1-9]\d{0,5}\/\d{1,5}$/, 'a reference has the form "3/0"')
        .describe("The reference that stands where the result was, such as 3/0"),
      from: z.int().min(0).default(0).describe("First character to read, counted from 0"),
      length: z.int().min(1).max(lengthMax).default(8_000).describe("How many characters to read"),
    }),
    risk: "low",
    effect: "read",
    groups: ["memory"],
    // The longest part, whatever its characters are, and the line that says which it is.
    outputBytesMax: lengthMax * 3 + 200,
    async run({ result, from, length }, { session, run }) {
      const entries = (await journal.readRun(session, run)).map(openEntry);
      const text = (await wholeOutput(entries, result, blobs)) ?? readResult(entries, result);
      if (text === null) throw unknown(result, entries);
      return { output: partOf(text, { result, from, length }) };
    },
  });
}

/** What was too large to be shown whole; null for a result that was not, or whose blob has gone. */
async function wholeOutput(
  entries: readonly Entry[],
  result: string,
  blobs: RecallOptions["blobs"],
): Promise<string | null> {
  const finished = entries.find((entry) => entry.kind === "tool.finished" && placeOf(entry) === result);
  if (finished?.kind !== "tool.finished" || finished.outcome.outputRef === null) return null;
  const bytes = await blobs?.get(finished.outcome.outputRef);
  return bytes ? Buffer.from(bytes).toString("utf8") : null;
}

function partOf(text: string, { result, from, length }: { result: string; from: number; length: number }): string {
  if (from > 0 && from >= text.length) {
    throw refused(`${result} has ${text.length} characters, so that nothing begins at ${from}`);
  }
  const start = wholeCharacter(text, from);
  const end = wholeCharacter(text, Math.min(text.length, from + length));
  if (start === 0 && end === text.length) return text;
  const next = end < text.length ? `; go on with from ${end}` : "";
  return `${text.slice(start, end)}\n[characters ${start} to ${end} of ${text.length}${next}]`;
}

/** Never between the two halves of a character. */
function wholeCharacter(text: string, at: number): number {
  return at > 0 && /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at + 1 : at;
}

const namedMax = 20;

function unknown(result: string, entries: readonly Entry[]): RunFailure {
  const places = entries.flatMap((entry) => (entry.kind === "tool.finished" ? [placeOf(entry)] : []));
  const some = places.slice(-namedMax).join(", ") || "none";
  return refused(`this run has no result ${result}; the newest that it has: ${some}`);
}

function placeOf({ step, call }: { step: number; call: number }): string {
  return `${step}/${call}`;
}

function refused(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
