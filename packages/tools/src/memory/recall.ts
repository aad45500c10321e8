import { type Blobs, type Entry, type Journal, RunFailure } from "@troupe/core";
import { openEntry, readResult, recallToolName } from "@troupe/core/internal";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";

export interface RecallOptions {
  /** The journal with the results of runs. */
  journal: Pick<Journal, "readRun">;
  /** The store of outputs over the limit. @default only the truncated outputs can be recalled */
  blobs?: Pick<Blobs, "get">;
}

const lengthMax = 60_000;

/**
 * Creates the tool that returns a result of the same run, after the conversation replaced it by a reference. It only reads
 * the journal of the run that calls it.
 *
 * @example
 * const tools = [...createFileTools({ journal }), createRecallTool({ journal, blobs })];
 */
export function createRecallTool({ journal, blobs }: RecallOptions): Tool {
  return defineTool({
    name: recallToolName,
    description:
      "Returns a result of one of your earlier tool calls that was removed from the conversation, or was too long " +
      "to be shown whole. Continue a long one with from.",
    input: z.strictObject({
      result: z
        .string()
        .regex(/^[1-9]\d{0,5}\/\d{1,5}$/, 'a reference has the form "3/0"')
        .describe("Its reference, such as 3/0"),
      from: z.int().min(0).default(0).describe("First character, counted from 0"),
      length: z.int().min(1).max(lengthMax).default(8_000),
    }),
    risk: "low",
    effect: "read",
    groups: ["memory"],
    // The longest part in UTF-8, with the line that describes it.
    outputBytesMax: lengthMax * 3 + 200,
    async run({ result, from, length }, { session, run }) {
      const entries = (await journal.readRun(session, run)).map(openEntry);
      const text = (await wholeOutput(entries, result, blobs)) ?? readResult(entries, result);
      if (text === null) throw unknownResult(result, entries);
      return { output: excerptOf(text, { result, from, length }) };
    },
  });
}

/** The stored output of a truncated result. Null for a result that was not truncated, or whose blob is gone. */
async function wholeOutput(
  entries: readonly Entry[],
  result: string,
  blobs: RecallOptions["blobs"],
): Promise<string | null> {
  const finished = entries.find((entry) => entry.kind === "tool.finished" && referenceOf(entry) === result);
  if (finished?.kind !== "tool.finished" || finished.outcome.outputRef === null) return null;
  const bytes = await blobs?.get(finished.outcome.outputRef);
  return bytes ? Buffer.from(bytes).toString("utf8") : null;
}

function excerptOf(text: string, { result, from, length }: { result: string; from: number; length: number }): string {
  if (from > 0 && from >= text.length) {
    throw refused(`${result} has only ${text.length} characters; from is ${from}`);
  }
  const start = characterBoundary(text, from);
  const end = characterBoundary(text, Math.min(text.length, from + length));
  if (start === 0 && end === text.length) return text;
  const next = end < text.length ? `; continue with from ${end}` : "";
  return `${text.slice(start, end)}\n[characters ${start} to ${end} of ${text.length}${next}]`;
}

/** Moves an index that splits a surrogate pair to the end of the pair. */
function characterBoundary(text: string, at: number): number {
  return at > 0 && /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at + 1 : at;
}

const namedMax = 20;

function unknownResult(result: string, entries: readonly Entry[]): RunFailure {
  const references = entries.flatMap((entry) => (entry.kind === "tool.finished" ? [referenceOf(entry)] : []));
  const some = references.slice(-namedMax).join(", ") || "none";
  return refused(`this run has no result ${result}; its newest results: ${some}`);
}

function referenceOf({ step, call }: { step: number; call: number }): string {
  return `${step}/${call}`;
}

function refused(message: string): RunFailure {
  return new RunFailure({ type: "params", message, recoverable: false });
}
